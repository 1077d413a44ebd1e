/** Joins the compiled kernel, its layout and the shell to the text of the function library that runs inside Valkey. */
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { compileLua } from './compile-lua.ts'
import { luaLayout } from './lua-layout.ts'
import { root } from './run.ts'

const KERNEL = 'src/stores/valkey/library/kernel.ts'
/** Parts of one chunk, joined in the order of their names: each uses what those before it define. */
const SHELL = 'src/stores/valkey/library/shell'
const PERMISSIONS = 'src/stores/valkey/library/permissions.lua'

/** What the store calls, and what the server may expect of it. */
const functions = [
  { suffix: '', serves: 'run', flags: '' },
  { suffix: '_when_full', serves: 'run', flags: "'allow-oom'" },
  { suffix: '_read', serves: 'run', flags: "'no-writes'" },
  { suffix: '_events', serves: 'readEvents', flags: "'no-writes'" },
  { suffix: '_trim', serves: 'trimEvents', flags: "'allow-oom'" },
]

async function luaShell(): Promise<string> {
  const folder = path.join(root, SHELL)
  const names = (await readdir(folder)).sort()
  const parts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')))
  return parts.join('\n')
}

/** While a library loads hardly any global is visible, so everything waits in functions until the first call. */
export async function luaLibrary(): Promise<string> {
  const shell = await luaShell()
  const permissions = await readFile(path.join(root, PERMISSIONS), 'utf8')
  return [
    'local require',
    'local function bootKernel(...)',
    compileLua(KERNEL),
    'end',
    'local function bootLayout(pack, unpack, join)',
    luaLayout(),
    'end',
    'local function bootShell()',
    shell,
    'end',
    'local shell',
    'local function serve(name) return function(keys, args)',
    '  shell = shell or bootShell()',
    '  return shell[name](keys, args)',
    'end end',
    ...functions.map(
      ({ suffix, serves, flags }) =>
        `redis.register_function({ function_name = 'FUNCTION_NAME${suffix}', callback = serve('${serves}'), flags = { ${flags} } })`,
    ),
    "redis.register_function({ function_name = 'FUNCTION_NAME_permissions', flags = { 'no-writes' }, callback = function(keys, args)",
    permissions,
    'end })',
    '',
  ].join('\n')
}
