/** Which URLs and addresses webhooks are sent to: those of public hosts, over https, unless private ones are allowed. */
import { BlockList, isIP } from 'node:net'
import { EngineError } from '../../kernel/engine-error.ts'

const URL_MAX_LENGTH = 2_048

/** Networks that are not public: local, private, shared, reserved, and those of the metadata services of clouds. */
const blocked = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv4')
}
/** In IPv6 only the global unicast addresses are public, without those that embed an IPv4 address or document examples. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv6')
}

/** Whether an IP address is one of a public host. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4')
    case 6:
      return global.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
    default:
      return false
  }
}

/** Checks the form of a URL. Its addresses are checked when it is connected to, since names can change theirs. */
export function checkTarget(value: unknown, allowPrivate: boolean): string {
  const isUrl = typeof value === 'string' && value.length <= URL_MAX_LENGTH && URL.canParse(value)
  const url = isUrl ? new URL(value) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw unsafe('It is no URL that begins with https:.')
  if (url.username !== '' || url.password !== '') throw unsafe('It contains credentials.')
  if (allowPrivate) return url.href
  if (url.protocol !== 'https:') throw unsafe('It does not begin with https:.')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw unsafe('Its address is not public.')
  if (/(^|\.)(localhost|local|internal|localdomain)\.?$/i.test(host)) throw unsafe('Its host is not public.')
  return url.href
}

export function unsafe(why: string): EngineError {
  return new EngineError('unsafe_target', { field: 'url', message: why })
}
