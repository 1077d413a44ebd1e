/** Makes the codec of a command from its settings. Without them values are shown as sealed. */
import type { Configuration } from '../config/configuration.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import type { Bucket, ValueCodec } from '../../codec/index.ts'
import type { FabricOptions } from '../../fabric/fabric.ts'
import { EngineError } from '../../kernel/engine-error.ts'

export async function codecFrom(configuration: Configuration): Promise<Pick<FabricOptions, 'codec'>> {
  const keys = configuration.value('codec.keysFile')
  const bucket = await bucketFrom(configuration)
  if (keys === undefined && bucket === undefined) return {}
  // Most commands have no codec.
  const { encryption, offload } = await import('../../codec/index.ts')
  const codec: ValueCodec[] = keys === undefined ? [] : [encryption({ keys })]
  if (bucket !== undefined) codec.push(offload({ to: bucket }))
  return { codec }
}

/** Returns the bucket of offloaded values, if one is set. */
export async function bucketFrom(configuration: Configuration): Promise<Bucket | undefined> {
  const folder = configuration.value('codec.folder')
  const endpoint = configuration.value('codec.bucket.endpoint')
  if (folder !== undefined) return (await import('../../codec/index.ts')).fileBucket(folder)
  return endpoint === undefined ? undefined : await s3From(configuration, endpoint)
}

async function s3From(configuration: Configuration, endpoint: string): Promise<Bucket> {
  const { s3Bucket } = await import('../../codec/index.ts')
  const bucket = configuration.value('codec.bucket.name')
  const accessKeyId = configuration.value('codec.bucket.accessKeyId')
  const secretAccessKey = configuration.content('codec.bucket.secretAccessKeyFile')?.trim()
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    throw new EngineError('invalid_configuration', {
      field: 'codec.bucket',
      message:
        'codec.bucket.endpoint also needs codec.bucket.name, codec.bucket.accessKeyId and codec.bucket.secretAccessKeyFile.',
    })
  }
  const region = configuration.value('codec.bucket.region')
  const prefix = configuration.value('codec.bucket.prefix')
  return s3Bucket({
    endpoint,
    bucket,
    credentials: { accessKeyId, secretAccessKey },
    ...dropUndefined({ region, prefix }),
  })
}
