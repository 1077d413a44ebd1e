import { expect, test } from 'vitest'
import { signS3 } from './s3-signature.ts'

/** The published example of a GET request with a range. */
test('a request is signed as the service expects', () => {
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt')
  const request = { method: 'GET', url, headers: { range: 'bytes=0-9' }, body: new Uint8Array() }

  const { authorization } = signS3(request, 'us-east-1', credentials, new Date('2013-05-24T00:00:00Z'))

  expect(authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

test('parameters are part of the signature in the order of their names', () => {
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const url = new URL('https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2')
  const request = { method: 'GET', url, headers: {}, body: new Uint8Array() }

  const { authorization } = signS3(request, 'us-east-1', credentials, new Date('2013-05-24T00:00:00Z'))

  expect(authorization).toContain('Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7')
})
