import { chmod, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { workplace } from './workplace.ts'

interface Item {
  readonly name: string
  readonly value?: unknown
  readonly source: { readonly kind: string; readonly name?: string }
}

test('a file, the environment and flags are combined, and config shows the source of each value', async () => {
  const place = await workplace()
  await writeFile(
    place.path('flowfabric.config.json'),
    JSON.stringify({ store: 'sqlite:./from-file.db', namespace: 'shop', valkey: { password: 'hush' } }),
  )
  const env = { FLOWFABRIC_NAMESPACE: 'blog', FLOWFABRIC_LOG_LEVLE: 'debug' }

  const printed = await place.run(['config', '--json'], { env })
  const submitted = await place.run(['submit', 'greet', '--store', 'sqlite:./from-flag.db'], { env })
  const listed = await place.run(['list', '--store', 'sqlite:./from-flag.db', '--json'], { env })

  const { items, warnings } = JSON.parse(printed.stdout) as { items: Item[]; warnings: string[] }
  const byName = new Map(items.map((item) => [item.name, item]))
  expect(byName.get('store')).toMatchObject({ value: 'sqlite:./from-file.db', source: { kind: 'file' } })
  expect(byName.get('namespace')).toMatchObject({ value: 'blog', source: { name: 'FLOWFABRIC_NAMESPACE' } })
  expect(byName.get('server.port')).toMatchObject({ source: { kind: 'default' } })
  expect(byName.get('valkey.password')).toMatchObject({ isHidden: true })
  expect(printed.stdout + printed.stderr).not.toContain('hush')
  expect(warnings).toEqual([expect.stringContaining('Did you mean FLOWFABRIC_LOG_LEVEL?')])
  expect(submitted.code).toBe(0)
  expect(submitted.stderr).toContain('FLOWFABRIC_LOG_LEVLE is not a setting')
  expect(JSON.parse(listed.stdout)).toMatchObject({ items: [{ task: 'greet', namespace: 'blog' }] })
})

test('a wrong setting is refused before the store is opened, with the right name', async () => {
  const place = await workplace()
  await writeFile(place.path('flowfabric.config.json'), JSON.stringify({ server: { prot: 8080 } }))

  const refused = await place.run(['submit', 'greet'])
  const one = await place.run(['config', 'server.prot'], { env: { FLOWFABRIC_CONFIG_FILE: '' } })

  expect(refused).toMatchObject({ code: 2 })
  expect(refused.stderr).toContain('Did you mean server.port?')
  expect(one.code).toBe(2)
  expect(place.has('flowfabric.db')).toBe(false)
})

test('doctor reports a file with secrets that others can read', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet'])
  await writeFile(place.path('tokens'), '')
  await chmod(place.path('tokens'), 0o644)

  const { code, stdout } = await place.run(['doctor', '--json'], {
    env: { FLOWFABRIC_TOKENS_FILE: place.path('tokens') },
  })

  const { findings } = JSON.parse(stdout) as { findings: { check: string; verdict: string; text: string }[] }
  expect(code).toBe(0)
  expect(findings).toContainEqual(expect.objectContaining({ check: 'files', verdict: 'warning' }))
  expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['configuration', 'files', 'level', 'due']))
})
