-- spec.tlsConfig: the five values of a file, and the lines that follow it in a file that a person keeps.
local tls = {}

local fixed = {
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = "DHE-RSA-CHACHA20-POLY1305",
  TLS_RSA_WITH_AES_128_CBC_SHA = "AES128-SHA",
  TLS_RSA_WITH_AES_256_CBC_SHA = "AES256-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256 = "AES128-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA256 = "AES256-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256 = "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_GCM_SHA384 = "AES256-GCM-SHA384",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA = "DES-CBC3-SHA",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = "ECDHE-RSA-DES-CBC3-SHA",
}

-- The name of a cipher as OpenSSL has it.
function tls.cipher(name)
  if fixed[name] then return fixed[name] end
  if not name:find("^TLS_") or name:find("^TLS_AES_") or name:find("^TLS_CHACHA20_") then return name end
  return (name:sub(5):gsub("_WITH_", "-", 1):gsub("_(%d)", "%1"):gsub("_", "-"))
end

-- A list as text; views have no metatable that table.concat would need.
local function joined(list, each)
  local out = {}
  for i, text in ipairs(list or {}) do out[i] = each and each(text) or text end
  return table.concat(out, ":")
end

-- The values of the placeholders; without `config` all are empty: the release has no such keys.
function tls.values(config)
  local values = { TlsProfile = "", TlsMinVersion = "", TlsMaxVersion = "", TlsCiphers = "", TlsGroups = "" }
  if not config then return values end
  values.TlsProfile = config.profile or ""
  if values.TlsProfile == "" then values.TlsProfile = "intermediate" end
  if values.TlsProfile ~= "custom" then return values end
  values.TlsMinVersion, values.TlsMaxVersion = config.minVersion or "", config.maxVersion or ""
  values.TlsCiphers, values.TlsGroups = joined(config.ciphers, tls.cipher), joined(config.groups)
  return values
end

-- What cannot be: a reason and a sentence, or nil.
function tls.problem(config)
  if not config then return nil end
  local profiles = { [""] = true, old = true, intermediate = true, modern = true, custom = true }
  if not profiles[config.profile or ""] then return "TlsProfileUnknown", "tlsConfig.profile: '" .. config.profile .. "'" end
  for _, key in ipairs({ "minVersion", "maxVersion" }) do
    local v = config[key] or ""
    if v ~= "" and not v:find("^1%.[0-3]$") then return "TlsVersionUnsupported", "tlsConfig." .. key .. ": '" .. v .. "' is no version of TLS" end
    if v == "1.0" or v == "1.1" then
      return "TlsVersionUnsupported", "tlsConfig." .. key .. ": Trustee takes 1.2 and 1.3, not " .. v
    end
  end
  local least, most = config.minVersion or "", config.maxVersion or ""
  if least ~= "" and most ~= "" and least > most then
    return "TlsVersionUnsupported", "tlsConfig.minVersion " .. least .. " is above tlsConfig.maxVersion " .. most
  end
  return nil
end

local keys = { tls_profile = true, tls_min_version = true, tls_max_version = true, tls_ciphers = true, tls_groups = true }

local function is_ours(line)
  if line:find("^%s*#%s*TLS configuration") then return true end
  local key = line:match("^%s*([%w_]+)%s*=")
  return key ~= nil and keys[key] ~= nil
end

local function split(text)
  local lines = {}
  for line in text:gmatch("[^\n]*\n?") do
    if line == "" then break end
    lines[#lines + 1] = line
  end
  return lines
end

-- First and last line of [http_server], without the line of its name; nil: there is none.
local function section(lines)
  local first
  for i, line in ipairs(lines) do
    if first and line:find("^%s*%[") then return first, i - 1 end
    if not first and line:find("^%s*%[%s*http_server%s*%]") then first = i + 1 end
  end
  if first then return first, #lines end
end

-- merge(text, rendered): `text` with the TLS lines of `rendered` in its [http_server] and every other byte as it was; nil and
-- why when it cannot be. A rendering without such lines leaves the text alone. Doing it twice changes nothing.
function tls.merge(text, rendered)
  local new, block = split(rendered), {}
  local from, to = section(new)
  for i = from or 1, from and to or 0 do
    if is_ours(new[i]) then block[#block + 1] = (new[i]:gsub("[\r\n]+$", "")) end
  end
  if #block == 0 then return text end
  local read = pcall(toml.decode, text)
  if not read then return nil, "it is no TOML" end
  local lines = split(text)
  local first, last = section(lines)
  if not first then return nil, "it has no [http_server]" end
  local line_end = text:find("\r\n", 1, true) and "\r\n" or "\n"
  -- The block goes where the old one began, else behind the last line of the section that says something.
  local at, said = nil, first - 1
  for i = first, last do
    if is_ours(lines[i]) then
      at = at or i
    elseif lines[i]:find("%S") then
      said = i
    end
  end
  at = at or said + 1
  local out = {}
  local function put_block()
    if #out > 0 and not out[#out]:find("\n$") then out[#out] = out[#out] .. line_end end
    for _, line in ipairs(block) do out[#out + 1] = line .. line_end end
  end
  for i = 1, #lines do
    if i == at then put_block() end
    if i < first or i > last or not is_ours(lines[i]) then out[#out + 1] = lines[i] end
  end
  if at > #lines then put_block() end
  return table.concat(out)
end

return tls
