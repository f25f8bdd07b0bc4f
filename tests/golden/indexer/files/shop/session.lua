-- Sessions of the shop's customers.
local cjson = require("cjson")
local store = require "shop.store"

local M = {}

local TTL = 3600
M.version = "1.2"

local Session = {}
Session.__index = Session

--- Opens a session for a customer.
-- @param customer the customer's number
function M.open(customer)
  local self = setmetatable({}, Session)
  self.customer = customer
  self.expires = os.time() + TTL
  store.put(customer, cjson.encode(self))
  return self
end

--- Whether the session is still good.
function Session:alive()
  return os.time() < self.expires
end

M.close = function(session)
  store.delete(session.customer)
end

local function sweep(now)
  for customer, session in store.pairs() do
    if session.expires < now then
      store.delete(customer)
    end
  end
end

function sweep_all()
  sweep(os.time())
end

return M
