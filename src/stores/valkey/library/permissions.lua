-- Which of some commands the caller's user may not run, or the server does not have. args: the command lines, packed.
local denied = {}
for _, line in ipairs(cmsgpack.unpack(args[1])) do
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, unpack(line))
  if not (isKnown and isAllowed) then denied[#denied + 1] = line[1] end
end
return denied
