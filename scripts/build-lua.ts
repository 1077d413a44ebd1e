/** Builds the Lua that runs inside Valkey: the function library of the store. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { luaLibrary } from './lua-library.ts'
import { root } from './run.ts'

const OUT = 'dist/lua/library.lua'

const text = await luaLibrary()
const file = path.resolve(root, OUT)
await mkdir(path.dirname(file), { recursive: true })
await writeFile(file, text)
console.log(OUT)
