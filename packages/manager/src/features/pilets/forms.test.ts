// These tests send bodies that are not forms with exactly one file. Each gets a clear error, stores nothing, and
// releases its memory.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { boundary, formField, formOf, formPart, piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type RawSocket, openRaw } from '../../../test/kit/raw-socket.ts'

const maxUploadBytes = 262_144
const { service, project, member } = useProject({
  env: {
    SVC_PILETS_MAX_UPLOAD_BYTES: String(maxUploadBytes),
    SVC_PILETS_UPLOAD_MEMORY_BYTES: String(2 * maxUploadBytes),
  },
})
let tester: Person
beforeAll(async () => {
  tester = await member('tester', 'tester')
  await uploadPilet(service, tester, { projectId: project.id, name: 'first', version: '1.0.0' })
})

const held = async (): Promise<number> => {
  const text = await service.world.metrics.registry.getSingleMetricAsString('svc_pilet_upload_bytes')
  return Number(text.trim().split(' ').at(-1))
}
/** Returns everything that an upload can leave behind. */
const traces = async (): Promise<unknown> => ({
  rows: (
    await service.sql
      .query(`select (select count(*) from pilet_packages) packages, (select count(*) from blobs) blobs,
      (select count(*) from audit_logs where entity_type = 'piletPackage') audit`)
  ).rows,
  held: await held(),
})
const unstored = { rows: [{ packages: '1', blobs: '1', audit: '1' }], held: 0 }
const upload = (form: Buffer, headers: Record<string, string> = {}) =>
  uploadPilet(service, tester, { projectId: project.id, name: 'refused', version: '1.0.0', form, headers })

const file = formPart({}, 'bytes')
const many = (count: number): Buffer[] => Array.from({ length: count }, () => formField('x', 'y'))
const cut = (form: Buffer, bytes: number): Buffer => form.subarray(0, form.length - bytes)

const refusals: [string, number, RegExp, Buffer][] = [
  ['without parts', 400, /has no file|malformed/, formOf()],
  ['that is empty', 400, /has no file|malformed/, Buffer.alloc(0)],
  ['with fields only', 400, /has no file; send the file in the field file/, formOf(formField('a', 'b'))],
  ['with an empty file', 400, /the file is empty/, formOf(formPart({}, ''))],
  ['with its file in another field', 400, /in the field file/, formOf(formPart({ field: 'bundle' }, 'x'))],
  [
    'with another file before the file',
    400,
    /in the field file/,
    formOf(formPart({ field: 'a' }, 'x'), file),
  ],
  ['with two files', 400, /one file/, formOf(file, file)],
  [
    'with a file in another field after the file',
    400,
    /one file/,
    formOf(file, formPart({ field: 'a' }, 'x')),
  ],
  ['with a part that has no name', 400, /no file/, formOf(Buffer.from(`--${boundary}\r\nA: b\r\n\r\nx\r\n`))],
  [
    'whose field is a property of all objects',
    400,
    /malformed/,
    formOf(formPart({ field: '__proto__' }, 'x')),
  ],
  ['with five fields', 413, /too many parts/, formOf(...many(5), file)],
  ['with thousands of parts', 413, /too many parts/, formOf(...many(4_000), file)],
  ['with a field of kilobytes', 413, /1024 bytes/, formOf(formField('a', 'x'.repeat(1_025)), file)],
  ['with a field of megabytes', 413, /bytes/, formOf(formField('a', 'x'.repeat(3_000_000)), file)],
  ['whose last boundary is missing', 400, /ends before/, file],
  ['that ends within its file', 400, /ends before/, cut(file, 4)],
  ['that ends within its last boundary', 400, /ends before/, cut(formOf(file), 6)],
  [
    'that ends within the headers of a part',
    400,
    /ends before|no file/,
    Buffer.from(`--${boundary}\r\nContent-Di`),
  ],
  ['that never begins', 400, /ends before|malformed/, Buffer.alloc(100_000, 'x')],
]

describe('a form', () => {
  test.each(refusals)('%s is refused, and nothing stays', async (_what, status, text, form) => {
    const answer = await upload(form)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(text)])
    expect(await traces()).toEqual(unstored)
  })

  test.each([
    ['application/json', 415],
    ['text/javascript', 415],
    ['multipart/mixed; boundary=x', 415],
    ['multipart/form-data-x; boundary=x', 415],
    ['multipart/form-data', 400],
    ['multipart/form-data; boundary=', 400],
    ['multipart/form-data; boundary=another', 400],
  ])('of type %s is answered %i', async (type, status) => {
    const answer = await upload(formOf(file), { 'content-type': type })
    expect([answer.status, typeof answer.body.error]).toEqual([status, 'string'])
    expect(await traces()).toEqual(unstored)
  })

  test.each(['gzip', 'br', 'GZIP, identity', 'x'])(
    'with Content-Encoding %s is answered 415',
    async (encoding) => {
      const answer = await upload(formOf(file), { 'content-encoding': encoding })
      expect([answer.status, answer.body.error]).toEqual([
        415,
        expect.stringMatching(/without a Content-Encoding; the file itself/),
      ])
      expect(await traces()).toEqual(unstored)
    },
  )

  test('without a type or a body is answered 415', async () => {
    const path = piletPath({ projectId: project.id, name: 'refused', version: '1.0.0' })
    const headers = Object.entries(headersOf(tester))
    expect((await rawCall(service.url, { method: 'POST', path, headers })).status).toBe(415)
    expect((await rawCall(service.url, { method: 'POST', path, headers, body: 'x' })).status).toBe(415)
  })

  test('with 100,000 parts is refused at the seventh, where bodies may be that large', async () => {
    const large = await startTestApp({ database: service.database })
    const form = formOf(...many(100_000), file)
    const pilet = { projectId: project.id, name: 'refused', version: '1.0.0', form }
    const { status, body } = await uploadPilet(large, tester, pilet)
    expect([status, body.error]).toEqual([413, expect.stringContaining('too many parts')])
    await large.close()
    expect(await traces()).toEqual(unstored)
  })

  test('may hold a few small fields and bytes around its parts', async () => {
    const form = Buffer.concat([
      Buffer.from('a preamble\r\n'),
      formOf(...many(4), file),
      Buffer.from('an epilogue'),
    ])
    const name = `around-${randomUUID()}`
    const answer = await uploadPilet(service, tester, { projectId: project.id, name, version: '1.0.0', form })
    expect([answer.status, answer.body.size]).toEqual([200, 5])
    await service.sql.query('delete from pilet_packages where name = $1', [name])
    await service.sql.query('delete from blobs where unreferenced_since is not null')
  })

  test('is taken by the upload alone: other routes take JSON only, and a deletion ignores what comes with it', async () => {
    const headers = Object.entries({
      ...headersOf(tester),
      'content-type': `multipart/form-data; boundary=${boundary}`,
    })
    const body = formOf(file).toString()
    expect((await rawCall(service.url, { method: 'POST', path: '/query', headers, body })).status).toBe(415)
    const path = piletPath({ projectId: project.id, name: 'first', version: '1.0.0' })
    expect((await rawCall(service.url, { method: 'DELETE', path, headers, body })).status).toBe(200)
  })
})

describe('a body that is still arriving', () => {
  const begin = async (length: string, bytes: Buffer): Promise<RawSocket> => {
    const raw = await openRaw(service.url)
    const lines = Object.entries({
      host: 'h',
      ...headersOf(tester),
      'content-type': `multipart/form-data; boundary=${boundary}`,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const path = piletPath({ projectId: project.id, name: 'slow', version: '1.0.0' })
    raw.send(`POST ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n\r\n`)
    raw.socket.write(bytes)
    return raw
  }
  const beginning = Buffer.concat([formPart({}, Buffer.alloc(100_000, 'x'))]).subarray(0, -2)
  const isHeld = () =>
    vi.waitFor(async () => expect(await held()).toBeGreaterThan(90_000), { timeout: 20_000 })
  const isFree = () => vi.waitFor(async () => expect(await held()).toBe(0), { timeout: 20_000 })

  test.each([
    ['closes', (raw: RawSocket) => void raw.socket.destroy()],
    ['resets', (raw: RawSocket) => void raw.socket.resetAndDestroy()],
    ['ends their side of', (raw: RawSocket) => void raw.socket.end()],
  ])('is given back when the client %s the connection', async (_how, leave) => {
    const raw = await begin('Content-Length: 200000', beginning)
    await isHeld()
    leave(raw)
    await isFree()
    expect(await traces()).toMatchObject({ held: 0 })
    raw.socket.destroy()
  })

  test('is refused as soon as it is too long, though its end has not come', async () => {
    const raw = await begin('Transfer-Encoding: chunked', Buffer.alloc(0))
    const chunk = (bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    raw.socket.write(chunk(formPart({}, Buffer.alloc(maxUploadBytes + 10, 'x'))))
    const [answer] = await raw.completeResponses(1)
    expect(statusOf(answer as NonNullable<typeof answer>)).toBe(413)
    await isFree()
    raw.socket.destroy()
  })

  test('is refused when what comes before its first part does not end', async () => {
    const raw = await begin(`Content-Length: ${maxUploadBytes + 65_000}`, Buffer.alloc(0))
    const chunked = await begin('Transfer-Encoding: chunked', Buffer.alloc(0))
    for (let sent = 0; sent < maxUploadBytes + 100_000; sent += 50_000)
      chunked.socket.write(
        Buffer.concat([Buffer.from('c350\r\n'), Buffer.alloc(50_000, 'p'), Buffer.from('\r\n')]),
      )
    const [answer] = await chunked.completeResponses(1)
    expect(statusOf(answer as NonNullable<typeof answer>)).toBe(413)
    raw.socket.destroy()
    chunked.socket.destroy()
    await isFree()
  })

  test('is cut when it goes on long after it was refused', async () => {
    const raw = await begin('Transfer-Encoding: chunked', Buffer.alloc(0))
    const piece = Buffer.concat([Buffer.from('c350\r\n'), Buffer.alloc(50_000, 'p'), Buffer.from('\r\n')])
    const timer = setInterval(() => raw.socket.write(piece), 5)
    await raw.waitUntil(() => raw.ended() !== null)
    clearInterval(timer)
    expect(raw.received().toString('latin1')).toContain(' 413 ')
  })
})
