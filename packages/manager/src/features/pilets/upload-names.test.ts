// These tests cover names and versions in the paths of pilets: accepted values, encoding, and errors for all
// other values.
import { beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { rawCall } from '../../../test/kit/http.ts'
import {
  type PiletUpload,
  boundary,
  callPilets,
  formOf,
  formPart,
  piletPath,
  uploadPilet,
} from '@manager/harness/pilets.ts'
import { uploadTraces } from '../../../test/kit/seeded-pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, member } = useProject()

let tester: Person
beforeAll(async () => {
  tester = await member('tester', 'tester')
})

const upload = (name: string, version: string, more: Partial<PiletUpload> = {}) =>
  uploadPilet(service, tester, { projectId: project.id, name, version, ...more })
const stored = async (name: string) =>
  (await service.sql.query('select * from pilet_packages where name = $1 order by version', [name])).rows
const traces = () => uploadTraces(service)

describe('names and versions', () => {
  const longest = `@${'s'.repeat(99)}/${'n'.repeat(113)}`
  test.each(['@acme/menu.items', 'a', '~tilde', 'a-b_c', longest, 'n'.repeat(214)])(
    '[pilets.scoped-names] %s is one encoded segment of the address, and is stored decoded',
    async (name) => {
      const { status, body } = await upload(name, '7.0.0', { bytes: name })
      expect([status, body.name]).toEqual([200, name])
      const path = piletPath({ projectId: project.id, name, version: '7.0.0' })
      expect(path.split('/')).toHaveLength(5)
      expect((await callPilets(service, tester, path)).text).toBe(name)
    },
  )

  test('[pilets.scoped-names] the case of percent-encoding does not matter', async () => {
    await upload('@case/menu', '1.0.0', { bytes: 'x' })
    for (const name of ['%40case%2Fmenu', '%40case%2fmenu', '@case%2Fmenu', '%40%63ase%2fmenu'])
      expect([
        name,
        (await callPilets(service, tester, `/pilets/${project.id}/${name}/1.0.0`)).status,
      ]).toEqual([name, 200])
  })

  const badNames = [
    'n'.repeat(215),
    `@${'s'.repeat(100)}/${'n'.repeat(113)}`,
    'Capital',
    '@Acme/menu',
    '.hidden',
    '_under',
    '-dash',
    '../x',
    '..\\x',
    '@acme/../menu',
    '@acme//menu',
    '@acme',
    '@/menu',
    'acme/menu',
    '@a/b/c',
    'a b',
    ' a',
    'a\0',
    'a\n',
    'ä',
    '\u2024\u2024',
    '\uff0e\uff0e\u2215x',
    'a%2fb',
    '%252f',
    'a:b',
    "it's",
    'node_modules',
    '\ud83c\udf31',
  ]
  test('[pilets.upload-names] a name outside of the grammar answers 400, and is unknown everywhere else', async () => {
    const before = await traces()
    for (const name of badNames) {
      const { status, body } = await upload(name, '1.0.0')
      expect([name, status, body.code]).toEqual([name, 400, 'bad_request'])
      const path = piletPath({ projectId: project.id, name, version: '1.0.0' })
      for (const method of ['GET', 'DELETE']) {
        const answer = await callPilets(service, tester, path, { method })
        expect([name, method, answer.status, JSON.parse(answer.text).error]).toEqual([
          name,
          method,
          404,
          'package not found',
        ])
      }
    }
    expect(await traces()).toEqual(before)
  })

  test('[pilets.upload-names] dots that clients resolve are names that nothing has, too', async () => {
    const headers = Object.entries({
      ...headersOf(tester),
      'content-type': `multipart/form-data; boundary=${boundary}`,
    })
    const body = formOf(formPart({}, 'x')).toString()
    for (const name of ['..', '%2e%2e', '.', '..%2f', '..%2f..%2fetc', '%2e%2e%5c', '%252e%252e'])
      for (const [method, status] of [
        ['POST', 400],
        ['GET', 404],
        ['DELETE', 404],
      ] as const) {
        const path = `/pilets/${project.id}/${name}/1.0.0`
        const answer = await rawCall(service.url, {
          method,
          path,
          headers,
          ...(method === 'POST' ? { body } : {}),
        })
        expect([name, method, answer.status]).toEqual([name, method, status])
      }
  })

  test.each([
    '1',
    '1.0',
    'v1.0.0',
    '=1.0.0',
    ' 1.0.0',
    '01.0.0',
    '1.0.0-',
    '1.0.0-01',
    '1.0.0+',
    '^1.0.0',
    'latest',
    '1.0.0\0',
    `1.0.0-${'a'.repeat(251)}`,
  ])('[pilets.upload-names] the version %j answers 400', async (version) => {
    const { status, body } = await upload('versions', version)
    expect([status, body.error]).toEqual([400, expect.stringContaining('SemVer')])
    expect(await stored('versions')).toEqual([])
  })

  test.each(['0.0.0', '1.0.0-rc.1', '1.0.0-0A.is.legal', '1.0.0+build.1', `1.0.0-${'a'.repeat(250)}`])(
    'the version %s is stored as it is',
    async (version) => {
      expect((await upload('good-versions', version)).status).toBe(200)
      expect((await stored('good-versions')).map((row) => row.version)).toContain(version)
    },
  )
})
