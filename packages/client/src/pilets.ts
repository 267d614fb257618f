import type { Connection } from './connection.ts'
import type { UploadPiletAnswer } from './generated/rest.ts'
import { pathOf } from './names.ts'
import { type CallOptions, type RequestContent, sendForJson } from './request.ts'

export type PiletUpload = CallOptions & {
  projectId: string
  /** Of the package, with its scope if it has one. */
  name: string
  version: string
  /** A script, or a package as `npm pack` makes it. */
  content: Uint8Array<ArrayBuffer> | Blob
  description?: string
  /** False for a version that nobody gets yet; true if absent. */
  enabled?: boolean
  /** Told how many bytes of the request are on their way. */
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void
}
export type PublishedPilet = UploadPiletAnswer

const partBytes = 64 * 1024

/** Uploads a version of a pilet. It is sent once: after a ConnectionError, ask whether it is there. */
export async function publishPilet(connection: Connection, upload: PiletUpload): Promise<PublishedPilet> {
  const { projectId, name, version, description, enabled, content, signal } = upload
  const query = new URLSearchParams()
  if (description !== undefined) query.set('description', description)
  if (enabled !== undefined) query.set('enabled', String(enabled))
  const file = content instanceof Blob ? content : new Blob([content])
  const form = new FormData()
  // The name of the file says what it is: a package as npm packs it, or a script.
  form.set('file', file, (await isGzip(file)) ? 'package.tgz' : 'index.js')
  return sendForJson<PublishedPilet>(connection, {
    method: 'POST',
    path: `/pilets${pathOf([projectId, name, version])}?${query.toString()}`,
    body: await bodyOf(form, upload.onProgress),
    signal,
  })
}

async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

/** What is told about progress is what the platform has taken from us, so the body becomes a stream then. */
async function bodyOf(
  form: FormData,
  onProgress: PiletUpload['onProgress'],
): Promise<{ content: RequestContent; type?: string | undefined }> {
  if (onProgress === undefined) return { content: form }
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? undefined
  const bytes = new Uint8Array(await encoded.arrayBuffer())
  let sentBytes = 0
  const content = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const part = bytes.subarray(sentBytes, sentBytes + partBytes)
      if (part.length === 0) return controller.close()
      sentBytes += part.length
      controller.enqueue(part)
      onProgress({ sentBytes, totalBytes: bytes.length })
    },
  })
  return { content, type }
}
