/** A small service with the HTTP interface of S3 on a loopback port. It checks each signature, and lists two objects a page. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { S3BucketOptions } from '../../../src/index.ts'
import { signS3 } from '../../../src/codec/s3-signature.ts'

const PAGE = 2
const BUCKET = 'values'
const PREFIX = 'fabric/'
const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' }

export class S3Server implements AsyncDisposable {
  readonly #server: Server
  readonly #objects = new Map<string, { readonly bytes: Buffer; readonly at: Date }>()

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<S3Server> {
    const server = new S3Server()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get options(): S3BucketOptions {
    const { port } = this.#server.address() as AddressInfo
    return { endpoint: `http://127.0.0.1:${port}`, bucket: BUCKET, prefix: PREFIX, credentials }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    if (!isSigned(request, url, body)) {
      fail(response, 403, 'SignatureDoesNotMatch')
      return
    }
    const [, bucket, ...rest] = url.pathname.split('/')
    if (bucket !== BUCKET) {
      fail(response, 404, 'NoSuchBucket')
      return
    }
    const key = rest.join('/')
    if (request.method === 'PUT') this.#objects.set(key, { bytes: body, at: new Date() })
    if (request.method === 'DELETE') {
      this.#objects.delete(key)
      response.statusCode = 204
    }
    if (request.method !== 'GET') return void response.end()
    if (key === '') return void response.end(this.#list(url.searchParams))
    const object = this.#objects.get(key)
    if (object === undefined) fail(response, 404, 'NoSuchKey')
    else response.end(object.bytes)
  }

  #list(query: URLSearchParams): string {
    const after = query.get('continuation-token') ?? ''
    const prefix = query.get('prefix') ?? ''
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, PAGE)
    const contents = page.map((key) => {
      const at = this.#objects.get(key)?.at.toISOString() ?? ''
      return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`
    })
    const isTruncated = keys.length > PAGE
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`
  }
}

function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const time = String(request.headers['x-amz-date'])
  const at = new Date(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const expected = signS3({ method: request.method ?? '', url, headers: {}, body }, 'us-east-1', credentials, at)
  return expected['authorization'] === request.headers.authorization
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status
  response.end(`<Error><Code>${code}</Code></Error>`)
}
