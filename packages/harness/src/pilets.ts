// Sends pilet requests over HTTP.
import { type Person, type Service, headersOf } from './callers.ts'

export type PiletUpload = {
  projectId: string
  name: string
  version: string
  bytes?: Buffer | string
  /** A complete form to send instead of a form with `bytes`. */
  form?: Buffer
  /** The media type that the part declares, or null for none. */
  type?: string | null
  fileName?: string
  field?: string
  query?: string
  headers?: Record<string, string>
}
// oxlint-disable-next-line typescript/no-explicit-any -- the shape of the body follows the status
export type PiletAnswer = { status: number; body: any; headers: Headers }

export const boundary = 'a-boundary-of-the-tests'
const formType = `multipart/form-data; boundary=${boundary}`

/** Encodes one multipart/form-data part. */
export function formPart(
  { field = 'file', fileName = 'index.js', type = 'application/javascript' }: Partial<PiletUpload>,
  content: Buffer | string,
): Buffer {
  const declared = type === null ? '' : `Content-Type: ${type}\r\n`
  const named = `Content-Disposition: form-data; name="${field}"; filename="${fileName}"\r\n`
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\n${named}${declared}\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
}

/** Encodes a form field without a file. */
export const formField = (field: string, value: string): Buffer =>
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`)

/** Encodes a complete form with these parts. */
export const formOf = (...parts: Buffer[]): Buffer =>
  Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])

/** Returns the URL path of a version. */
export const piletPath = ({
  projectId,
  name,
  version,
}: Pick<PiletUpload, 'projectId' | 'name' | 'version'>): string =>
  `/pilets/${projectId}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`

/** Uploads a version as this person. */
export async function uploadPilet(
  { url }: Service,
  person: Person,
  upload: PiletUpload,
): Promise<PiletAnswer> {
  const { bytes = '//@pilet v:2\nexport {}\n', query = '', headers } = upload
  const response = await fetch(`${url}${piletPath(upload)}${query}`, {
    method: 'POST',
    headers: { ...headersOf(person), 'content-type': formType, ...headers },
    body: new Uint8Array(upload.form ?? formOf(formPart(upload, bytes))),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

/** Calls any other pilet route and returns the body as text. */
export async function callPilets(
  { url }: Service,
  person: Person,
  path: string,
  init: { method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { ...headersOf(person), ...init.headers },
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
