"""The tenants' ports on Redis or Valkey: who they are, and their books.

Only the composition roots name what is in here. Start with `reserve.lua` and `settle.lua`.
"""
