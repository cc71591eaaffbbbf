"""What requests do, once each: read, append, wait, whatever codec brought them."""
