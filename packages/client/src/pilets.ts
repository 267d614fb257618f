import type { Connection } from './connection.ts'
import type { UploadPiletAnswer } from './generated/rest.ts'
import { encodePath } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

export type PiletUpload = CallOptions & {
  projectId: string
  /** The package name, including its scope. */
  name: string
  version: string
  /**
   * A script, or an archive created by `npm pack`. A Blob is read while it is sent, so a file can be larger than
   * memory.
   */
  content: Uint8Array<ArrayBuffer> | Blob
  description?: string
  /**
   * False stages the version: no feed contains it until it is enabled. Callers who may not enable versions
   * always stage.
   */
  enabled?: boolean
  /** Called after each part of the request is sent. */
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void
}
/** Older Managers do not send `enabled`. */
export type PublishedPilet = Omit<UploadPiletAnswer, 'enabled'> & { enabled?: boolean }

const partBytes = 64 * 1024

/**
 * Uploads a pilet version. The upload is not retried after a ConnectionError. After such an error, check whether the
 * version exists.
 */
export async function publishPilet(connection: Connection, upload: PiletUpload): Promise<PublishedPilet> {
  const { projectId, name, version, description, enabled, content, signal } = upload
  const query = new URLSearchParams()
  if (description !== undefined) query.set('description', description)
  if (enabled !== undefined) query.set('enabled', String(enabled))
  const file = content instanceof Blob ? content : new Blob([content])
  // The Manager derives from the file name whether the file is a package or a script.
  const { form, type } = createForm(file, (await isGzip(file)) ? 'package.tgz' : 'index.js')
  return sendForJson<PublishedPilet>(connection, {
    method: 'POST',
    path: `/pilets${encodePath([projectId, name, version])}?${query.toString()}`,
    body: { content: upload.onProgress === undefined ? form : createStream(form, upload.onProgress), type },
    signal,
  })
}

async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

/**
 * Builds a form that refers to the file instead of copying it. The platform's FormData does not reveal its
 * total size.
 */
function createForm(file: Blob, fileName: string): { form: Blob; type: string } {
  const boundary = `pilet-${crypto.randomUUID()}`
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${fileName}"`,
    `Content-Type: ${file.type === '' ? 'application/octet-stream' : file.type}`,
    '\r\n',
  ]
  const form = new Blob([head.join('\r\n'), file, `\r\n--${boundary}--\r\n`])
  return { form, type: `multipart/form-data; boundary=${boundary}` }
}

/** Returns the form as a stream, because progress is measured as the number of bytes that the platform has read. */
function createStream(form: Blob, onProgress: NonNullable<PiletUpload['onProgress']>): ReadableStream {
  let sentBytes = 0
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const part = new Uint8Array(await form.slice(sentBytes, sentBytes + partBytes).arrayBuffer())
      if (part.length === 0) return controller.close()
      sentBytes += part.length
      controller.enqueue(part)
      onProgress({ sentBytes, totalBytes: form.size })
    },
  })
}
