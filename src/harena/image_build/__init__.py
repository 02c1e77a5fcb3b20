"""Builds images from Dockerfiles: reading, planning, and the steps themselves over what a store and a runner give."""
