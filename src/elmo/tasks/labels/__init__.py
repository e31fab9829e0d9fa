"""What tasks share whose examples have one label each: reading, the model's outputs, scores."""
