// Tests examples/pilet-loader.mjs in a real browser, with a real service behind a proxy: which pilets it runs or
// refuses. A bundle that is opened as a page must not run any script.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxySecret } from '@manager/harness/callers.ts'
import { npmPack } from './kit/npm-pack.ts'
import {
  type Passing,
  type PiletProxy,
  launchBrowser,
  openPiletPage,
  startPiletProxy,
} from './kit/pilet-page.ts'
import { setLayer } from './kit/pilet-rows.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from './kit/project.ts'

const { service, admin, project } = useProject()
let browser: Browser
let proxy: PiletProxy
/** The keys that the page trusts. */
let anchor: Record<string, string>

const upload = async (
  name: string,
  bytes: Buffer,
  file: { fileName: string; type: string },
): Promise<void> => {
  const { status, body } = await uploadPilet(service, admin, {
    projectId: project.id,
    name,
    version: '1.0.0',
    bytes,
    ...file,
  })
  expect([name, status, body]).toMatchObject([name, 200, { name }])
}
const uploadScript = (name: string, text: string): Promise<void> =>
  upload(name, Buffer.from(text), { fileName: 'index.js', type: 'text/javascript' })
const showing = (text: string): string => `export const setup = ({ show }) => show('${text}')\n`

const enable = (modules: readonly string[]): Promise<void> =>
  setLayer(service.sql, project, 'application', { modules })

const readKeys = async (): Promise<Record<string, string>> => {
  const address = `${service.url}/pilet-keys/${project.applicationId}`
  const answer = await fetch(address, { headers: { 'x-proxy-auth': proxySecret } })
  return (await answer.json()) as Record<string, string>
}
const linkOf = (name: string): string =>
  `/pilet-bundle/${project.applicationId}/${project.id}/${encodeURIComponent(name)}/1.0.0`

beforeAll(async () => {
  await uploadScript('menu', showing('menu'))
  anchor = await readKeys()
  browser = await launchBrowser()
  proxy = await startPiletProxy(service.url, `/pilet-feed/${project.applicationId}`, () => anchor)
})
afterAll(async () => {
  await browser?.close()
  await proxy?.close()
})

/** Signs a pilet again, with a key that is in the ring but not trusted by the page. */
async function signWithAnotherKey(name: string, text: string): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const keyId = createHash('sha256').update(raw).digest('hex').slice(0, 16)
  await service.sql.query(
    `insert into pilet_signing_keys (id, key_id, public_key, private_key) values (gen_random_uuid(), $1, $2, '')`,
    [keyId, raw],
  )
  await service.sql.query('update pilet_packages set signature = $2, key_id = $3 where name = $1', [
    name,
    sign(null, Buffer.from(text), privateKey),
    keyId,
  ])
  return keyId
}

/**
 * Acts as an attacker between server and browser: changes the bytes of two pilets and, in the feed, the hash
 * of one of them. Also serves a different signed pilet in place of a third pilet.
 */
function tamper({ path, headers, body, ...rest }: Passing): Passing {
  const forged = Buffer.from("document.title = 'forged'")
  const isChanged = ['flipped', 'forged'].some((name) => path.endsWith(`/${name}/1.0.0`))
  if (isChanged) return { ...rest, path, headers, body: forged }
  if (!path.startsWith('/pilet-feed/')) return { ...rest, path, headers, body }
  const { items } = JSON.parse(body.toString()) as { items: { name: string; hash: string }[] }
  const menu = items.find(({ name }) => name === 'menu')
  for (const item of items) {
    if (item.name === 'forged') item.hash = createHash('sha256').update(forged).digest('hex')
    if (item.name === 'swapped') Object.assign(item, menu, { name: 'swapped' })
  }
  return { ...rest, path, headers, body: Buffer.from(JSON.stringify({ items })) }
}

const loadPage = () => openPiletPage(browser, proxy)

describe('the loader', () => {
  test('runs what is signed, scoped or packed by npm too, and refuses everything else with its reason', async () => {
    const packed = npmPack(
      { name: 'search', main: './dist/search.js' },
      { 'dist/search.js': showing('search, packed') },
    )
    // Without a setup function, the module runs when it is loaded.
    const item = "Object.assign(document.createElement('li'), { textContent: 'cart, scoped' })"
    await uploadScript('@acme/cart', `document.querySelector('ul').append(${item})\n`)
    await upload('search', packed, { fileName: 'search-1.0.0.tgz', type: 'application/gzip' })

    const refused = ['damaged', 'flipped', 'forged', 'foreign', 'unsigned', 'failing', 'swapped']
    for (const name of refused) await uploadScript(name, showing(name))
    await uploadScript('broken', 'throw new Error("it broke")')
    const foreignKey = await signWithAnotherKey('foreign', showing('foreign'))
    await service.sql.query(
      "update pilet_packages set signature = null, key_id = null where name = 'unsigned'",
    )
    await service.sql.query(
      `update blob_chunks set bytes = set_byte(bytes, 0, 0)
       where sha256 = (select hash from pilet_packages where name = 'damaged')`,
    )
    await enable(['menu', '@acme/cart', 'search', 'broken', ...refused])
    proxy.change((passing) => {
      const { path } = passing
      return path.endsWith('/failing/1.0.0')
        ? { ...passing, status: 204, body: Buffer.alloc(0) }
        : tamper(passing)
    })

    const { results, shown, title } = await loadPage()
    const version = '1.0.0'
    expect(results).toEqual([
      { name: '@acme/cart', version, loaded: true },
      { name: 'broken', version, refused: 'it broke' },
      { name: 'damaged', version, refused: `${linkOf('damaged')} returned 500` },
      { name: 'failing', version, refused: `${linkOf('failing')} returned 204` },
      { name: 'flipped', version, refused: 'the bytes do not match the hash in the feed' },
      {
        name: 'foreign',
        version,
        refused: `the pilet is signed with a key that is not trusted: ${foreignKey}`,
      },
      { name: 'forged', version, refused: 'the signature does not match the bytes' },
      { name: 'menu', version, loaded: true },
      { name: 'search', version, loaded: true },
      { name: 'swapped', version, refused: 'the statement is about another pilet' },
      { name: 'unsigned', version, refused: 'the pilet is not signed' },
    ])
    expect([shown, title]).toEqual([['cart, scoped', 'menu', 'search, packed'], 'page'])
  })

  test('[pilet-feed.trust-anchor] trusts the keys its page was given, whatever /pilet-keys says', async () => {
    const keys = anchor
    anchor = {}
    await enable(['menu'])
    const [keyId] = Object.keys(keys)
    expect(Object.keys(await readKeys())).toContain(keyId)
    const { results, shown } = await loadPage()
    expect([results, shown]).toEqual([
      [
        {
          name: 'menu',
          version: '1.0.0',
          refused: `the pilet is signed with a key that is not trusted: ${keyId}`,
        },
      ],
      [],
    ])
    anchor = keys
    expect((await loadPage()).shown).toEqual(['menu'])
  })
})

describe('a bundle that is opened as a page', () => {
  const attack = '<!doctype html><title>quiet</title><script>document.title = "it ran"</script><p>text</p>'
  const titleOf = async (address: string): Promise<string> => {
    const page = await browser.newPage()
    await page.goto(address)
    await page.waitForLoadState()
    const title = await page.title()
    await page.close()
    return title
  }

  test('[pilets.download-type] runs no script: its type stays JavaScript, and its headers hold if that is lost', async () => {
    await uploadScript('attack', attack)
    await enable(['attack'])
    const address = proxy.url + linkOf('attack')
    proxy.change((passing) => passing)
    const { headers } = await fetch(address)
    expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      'text/javascript',
      'nosniff',
    ])
    expect(await titleOf(address)).not.toBe('it ran')
    // Even if a proxy overrides the content type, the sandbox blocks scripts.
    const asHtml = (passing: Passing): Passing => ({
      ...passing,
      headers: { ...passing.headers, 'content-type': 'text/html', 'cache-control': 'no-store' },
    })
    proxy.change(asHtml)
    expect(await titleOf(`${address}?as-html`)).toBe('quiet')
    // Without its headers, the script would run.
    proxy.change((passing) => ({ ...passing, headers: { 'content-type': 'text/html' } }))
    expect(await titleOf(`${address}?bare`)).toBe('it ran')
  })

  test('of another type is a download', async () => {
    await upload('html', Buffer.from(attack), { fileName: 'page.html', type: 'text/html' })
    await enable(['html'])
    proxy.change((passing) => passing)
    const page = await browser.newPage()
    const download = page.waitForEvent('download')
    await expect(page.goto(proxy.url + linkOf('html'))).rejects.toThrow('Download is starting')
    await (await download).cancel()
    await page.close()
  })
})
