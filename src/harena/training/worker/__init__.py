"""The process that does one training job and tells its node how it gets on."""
