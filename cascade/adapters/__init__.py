"""The cascade's ports over real servers: Redis or Valkey for jobs and cache, object storage for pictures.

Only the composition roots name what is in here. Start with `redis_queue` and the Lua files beside it.
"""
