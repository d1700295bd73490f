"""Per engine: config templates, Dockerfile and how its image is started."""
