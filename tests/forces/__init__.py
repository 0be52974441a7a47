"""Force elements of links: gravity compensation, buoyancy, drag, thrust."""
