/** A certificate for a server on the loopback address, signed by itself, made anew for every server. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

export interface Certificate {
  readonly certificateFile: string
  readonly keyFile: string
  /** The certificate's text, which a client has to trust. */
  readonly text: string
}

const VALID_DAYS = 2
const MAKING_LIMIT_MS = 60_000

export async function makeCertificate(folder: string): Promise<Certificate> {
  const certificateFile = path.join(folder, 'server.crt')
  const keyFile = path.join(folder, 'server.key')
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const files = ['-keyout', keyFile, '-out', certificateFile, '-days', String(VALID_DAYS)]
  await promisify(execFile)('openssl', ['req', ...kind, ...subject, ...files], { timeout: MAKING_LIMIT_MS })
  return { certificateFile, keyFile, text: await readFile(certificateFile, 'utf8') }
}
