/** Joins the compiled kernel, its codec and the shell to the text of the function library that runs inside Valkey. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { compileLua } from './compile-lua.ts'
import { luaCodec } from './lua-codec.ts'
import { root } from './run.ts'

const KERNEL = 'src/stores/valkey/library/kernel.ts'
const SHELL = 'src/stores/valkey/library/shell.lua'

/** While a library loads hardly any global is visible, so everything waits in functions until the first call. */
export async function luaLibrary(): Promise<string> {
  const shell = await readFile(path.join(root, SHELL), 'utf8')
  return [
    'local require',
    'local function bootKernel(...)',
    compileLua(KERNEL),
    'end',
    'local function bootCodec(pack, unpack, unpackList)',
    luaCodec(),
    'end',
    'local function bootShell()',
    shell,
    'end',
    'local run',
    'local function serve(keys, args)',
    '  run = run or bootShell()',
    '  return run(keys, args)',
    'end',
    "redis.register_function('FUNCTION_NAME', serve)",
    "redis.register_function({ function_name = 'FUNCTION_NAME_when_full', callback = serve, flags = { 'allow-oom' } })",
    "redis.register_function({ function_name = 'FUNCTION_NAME_read', callback = serve, flags = { 'no-writes' } })",
    '',
  ].join('\n')
}
