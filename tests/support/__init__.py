"""What tests share: servers, repositories, sessions and hostile worlds."""
