import type { Connection } from './connection.ts'
import type { UploadPiletAnswer } from './generated/rest.ts'
import { pathOf } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

export type PiletUpload = CallOptions & {
  projectId: string
  /** Of the package, with its scope if it has one. */
  name: string
  version: string
  /** A script, or a package as `npm pack` makes it. A Blob is read while it is sent, so a file need not be in memory. */
  content: Uint8Array<ArrayBuffer> | Blob
  description?: string
  /** False stages the version: it is in no feed until it is enabled. A caller who may not enable versions always stages. */
  enabled?: boolean
  /** Told how many bytes of the request are on their way. */
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void
}
/** Older Managers do not send `enabled`. */
export type PublishedPilet = Omit<UploadPiletAnswer, 'enabled'> & { enabled?: boolean }

const partBytes = 64 * 1024

/** Uploads a version of a pilet. It is sent once: after a ConnectionError, ask whether it is there. */
export async function publishPilet(connection: Connection, upload: PiletUpload): Promise<PublishedPilet> {
  const { projectId, name, version, description, enabled, content, signal } = upload
  const query = new URLSearchParams()
  if (description !== undefined) query.set('description', description)
  if (enabled !== undefined) query.set('enabled', String(enabled))
  const file = content instanceof Blob ? content : new Blob([content])
  // The name of the file says what it is: a package as npm packs it, or a script.
  const { form, type } = formOf(file, (await isGzip(file)) ? 'package.tgz' : 'index.js')
  return sendForJson<PublishedPilet>(connection, {
    method: 'POST',
    path: `/pilets${pathOf([projectId, name, version])}?${query.toString()}`,
    body: { content: upload.onProgress === undefined ? form : streamOf(form, upload.onProgress), type },
    signal,
  })
}

async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

/** A form that refers to the file instead of holding it, and its type; the platform's own has no length to tell. */
function formOf(file: Blob, fileName: string): { form: Blob; type: string } {
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

/** What is told about progress is what the platform has taken from us, so the form becomes a stream then. */
function streamOf(form: Blob, onProgress: NonNullable<PiletUpload['onProgress']>): ReadableStream {
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
