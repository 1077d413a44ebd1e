/** A bucket of an S3-compatible service, over its HTTP interface. */
import { systemRuntime } from '../runtime/index.ts'
import type { Bucket, BucketObject } from './bucket.ts'
import { signS3 } from './s3-signature.ts'
import type { S3Credentials } from './s3-signature.ts'

const TIMEOUT_MS = 30_000
const REGION_DEFAULT = 'us-east-1'

export interface S3BucketOptions {
  /** The address of the service, such as `https://s3.eu-central-1.amazonaws.com`. The bucket is the first part of paths. */
  readonly endpoint: string
  readonly bucket: string
  /** Default: `us-east-1`. */
  readonly region?: string
  /** Begins the names of all objects, such as `flowfabric/`. */
  readonly prefix?: string
  /** The keys, or a function that returns the present ones. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>)
}

export function s3Bucket(options: S3BucketOptions): Bucket {
  const { endpoint, bucket, region = REGION_DEFAULT, prefix = '', credentials } = options
  const runtime = systemRuntime()
  const base = `${endpoint.replace(/\/+$/, '')}/${bucket}`

  async function send(method: string, target: string, body: Uint8Array = new Uint8Array()): Promise<Response> {
    const url = new URL(base + target)
    const present = typeof credentials === 'function' ? await credentials() : credentials
    const at = new Date(runtime.now())
    const { host: _sent, ...headers } = signS3({ method, url, headers: {}, body }, region, present, at)
    const limit = new AbortController()
    const timer = runtime.after(TIMEOUT_MS, () => limit.abort(), { background: true })
    try {
      const init = { method, headers, signal: limit.signal }
      const response = await fetch(url, method === 'PUT' ? { ...init, body: Buffer.from(body) } : init)
      // The time covers the body too.
      const bytes = response.status === 204 ? null : await response.arrayBuffer()
      return new Response(bytes, { status: response.status, headers: response.headers })
    } finally {
      timer.cancel()
    }
  }

  async function* list(): AsyncGenerator<BucketObject, void, undefined> {
    let token: string | undefined
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix })
      if (token !== undefined) query.set('continuation-token', token)
      const response = await accepted(await send('GET', `?${query.toString()}`))
      const text = await response.text()
      for (const [, contents = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const name = textIn(contents, 'Key')
        const at = Date.parse(textIn(contents, 'LastModified') ?? '')
        if (name?.startsWith(prefix) === true) yield { name: name.slice(prefix.length), at }
      }
      token = textIn(text, 'IsTruncated') === 'true' ? textIn(text, 'NextContinuationToken') : undefined
    } while (token !== undefined)
  }

  return {
    put: async (name, bytes) => {
      await accepted(await send('PUT', `/${prefix}${name}`, bytes))
    },
    get: async (name) => {
      const response = await send('GET', `/${prefix}${name}`)
      if (response.status === 404) {
        // A missing bucket is a mistake in the settings, and not a lost object.
        const text = await response.text()
        if (text.includes('NoSuchBucket')) throw new Error(`the bucket ${bucket} does not exist`)
        return undefined
      }
      return new Uint8Array(await (await accepted(response)).arrayBuffer())
    },
    remove: async (name) => {
      const response = await send('DELETE', `/${prefix}${name}`)
      if (response.status !== 404) await accepted(response)
    },
    list,
  }
}

/** Errors contain the status and the code of the service, and no text of a value. */
async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const code = textIn(await response.text(), 'Code')
  throw new Error(`the service answered ${response.status}${code === undefined ? '' : ` (${code})`}`)
}

function textIn(xml: string, tag: string): string | undefined {
  const found = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1]
  return found?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
