"""Speed, growth and size, beside a peer in the same run; ratios are what counts."""
