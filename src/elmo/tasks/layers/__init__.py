"""Layers that several task models share: recurrent, convolutional, attention, CRF. Each file is one layer."""
