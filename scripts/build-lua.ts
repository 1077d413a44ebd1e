/** Builds the Lua that runs inside Valkey: the function libraries of the store. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { luaLibrary } from './lua-library.ts'
import { root } from './run.ts'

const OUT = 'dist/lua/library.lua'

const text = await luaLibrary()
const file = path.resolve(root, OUT)
await mkdir(path.dirname(file), { recursive: true })
await writeFile(file, text)
console.log(OUT)

/** Written by hand; the built modules find it where the sources do. */
const LIBRARY = 'stores/valkey/library/library.lua'
const copy = path.resolve(root, 'dist', LIBRARY)
await mkdir(path.dirname(copy), { recursive: true })
await copyFile(path.resolve(root, 'src', LIBRARY), copy)
console.log(path.join('dist', LIBRARY))
