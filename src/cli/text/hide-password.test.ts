import { expect, test } from 'vitest'
import { hidePassword } from './hide-password.ts'

test.each([
  ['valkey://user:hush@host:6379/0', 'valkey://user:…@host:6379/0'],
  ['postgres://:hush@host/shop', 'postgres://:…@host/shop'],
  ['mysql://user:hu@s/h@host', 'mysql://user:…@host'],
  ['valkey://user@host:6379', 'valkey://user@host:6379'],
  ['sqlite:./a@b:c.db', 'sqlite:./a@b:c.db'],
  ['8080', '8080'],
])('%s is shown as %s', (text, shown) => {
  expect(hidePassword(text)).toBe(shown)
})
