/** Wraps compiled Lua as a function library. While a library loads hardly any global is visible, so it boots on first call. */
export interface LibraryFunction {
  readonly name: string
  /** A Lua expression over `exports`, the compiled module, and `args`, the strings that came with the call. */
  readonly answer: string
}

export function functionLibrary(name: string, bundle: string, functions: readonly LibraryFunction[]): string {
  const registrations = functions.map(
    (one) =>
      `redis.register_function('${one.name}', function(keys, args) exports = exports or boot() return ${one.answer} end)`,
  )
  return [
    `#!lua name=${name}`,
    'local require, exports',
    `local function boot(...) ${bundle}`,
    'end',
    ...registrations,
  ].join('\n')
}
