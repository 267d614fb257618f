// Finds every place where a page of the console stores a text, such as a secret after its dialog was closed.
import type { Frame, Page } from 'playwright-core'

/** A place where the page can store text, and its content. */
type Source = readonly [place: string, content: string]

/**
 * Returns the places that contain the text: the document, storages, databases, caches, cookies, addresses, the history,
 * and the queries and mutations of the query client. Each place starts with its kind, such as `localStorage: `.
 */
export async function findText(page: Page, text: string): Promise<string[]> {
  const forms = listForms(text)
  const sources = await Promise.all([
    ...page.frames().map(readDocument),
    readStorages(page),
    readDatabases(page),
    readCaches(page),
    readCookies(page),
    readAddresses(page),
    readQueryClient(page),
  ])
  const places = sources
    .flat()
    .filter(([, content]) => forms.some((form) => content.includes(form)))
    .map(([place]) => place)
  return [...new Set(places)]
}

/** Lists the forms in which the text can be stored: unchanged, as JSON, in an address, and in base64. */
function listForms(text: string): string[] {
  if (text.length < 4) throw new Error('a text this short would be found by chance')
  const base64 = Buffer.from(text).toString('base64').replace(/=*$/, '')
  return [...new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), base64])]
}

/** Reads texts, attributes and the values of fields, also in shadow roots. */
const readDocument = (frame: Frame): Promise<Source[]> =>
  frame.evaluate(() => {
    const found: [string, string][] = [['document: all text', document.documentElement.textContent]]
    const visit = (root: Document | ShadowRoot): void => {
      for (const element of root.querySelectorAll('*')) {
        const name = `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}">`
        for (const { name: attribute, value } of element.attributes)
          found.push([`document: attribute ${attribute} of ${name}`, value])
        if ('value' in element) found.push([`document: value of ${name}`, String(element.value)])
        for (const node of element.childNodes)
          if (node.nodeType !== Node.ELEMENT_NODE)
            found.push([`document: text of ${name}`, node.nodeValue ?? ''])
        if (element.shadowRoot !== null) visit(element.shadowRoot)
      }
    }
    visit(document)
    return found
  })

const readStorages = (page: Page): Promise<Source[]> =>
  page.evaluate(() =>
    Object.entries({ localStorage, sessionStorage }).flatMap(([name, storage]) =>
      Object.entries<string>(storage).map(([key, value]): [string, string] => [
        `${name}: ${key}`,
        `${key} ${value}`,
      ]),
    ),
  )

const readDatabases = (page: Page): Promise<Source[]> =>
  page.evaluate(async () => {
    const finish = <Result>(request: IDBRequest<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result))
        request.addEventListener('error', () => reject(new Error('the database cannot be read')))
      })
    const found: [string, string][] = []
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await finish(indexedDB.open(name))
      for (const store of database.objectStoreNames) {
        const rows = database.transaction(store).objectStore(store)
        const content = JSON.stringify(await Promise.all([finish(rows.getAllKeys()), finish(rows.getAll())]))
        found.push([`indexedDB: ${name} ${store}`, content])
      }
      database.close()
    }
    return found
  })

const readCaches = (page: Page): Promise<Source[]> =>
  page.evaluate(async () => {
    const found: [string, string][] = []
    // Pages without HTTPS have no caches, except on localhost.
    for (const name of 'caches' in globalThis ? await caches.keys() : []) {
      const cache = await caches.open(name)
      for (const request of await cache.keys())
        found.push([`caches: ${name}`, `${request.url} ${await (await cache.match(request))?.text()}`])
    }
    return found
  })

const readCookies = async (page: Page): Promise<Source[]> =>
  (await page.context().cookies()).map(({ name, value }) => [`cookie: ${name}`, `${name} ${value}`])

/** Reads the addresses of the page, of its history and of its requests, and the state of the history. */
async function readAddresses(page: Page): Promise<Source[]> {
  const devtools = await page.context().newCDPSession(page)
  const { entries } = await devtools.send('Page.getNavigationHistory')
  await devtools.detach()
  const own = await page.evaluate((): [string, string][] => [
    ['address: page', location.href],
    ['address: window name', window.name],
    ['address: referrer', document.referrer],
    ['history: state', JSON.stringify(history.state)],
    ...performance.getEntries().map(({ name }): [string, string] => ['address: request', name]),
  ])
  return [
    ...own,
    ...entries.map(({ url, title }, index): Source => [`history: entry ${index}`, `${url} ${title}`]),
  ]
}

/**
 * Reads the queries and mutations in the query client of the page. The page does not expose the client, so it is found
 * through the component tree. Throws if the client is missing, because the search would then be incomplete.
 */
const readQueryClient = (page: Page): Promise<Source[]> =>
  page.evaluate(() => {
    type Entry = { queryKey?: unknown; state: object; options: { mutationKey?: unknown } }
    type Cache = { getAll: () => Entry[] }
    type Client = { getQueryCache: () => Cache; getMutationCache: () => Cache }
    type Fiber = {
      memoizedProps: { client?: Client } | null
      child: Fiber | null
      sibling: Fiber | null
      stateNode: { current: Fiber }
    }
    const root = document.querySelector('#root') as unknown as Record<string, Fiber> | null
    const key = Object.keys(root ?? {}).find((name) => name.startsWith('__reactContainer$')) ?? ''
    const open: (Fiber | null | undefined)[] = [root?.[key]?.stateNode.current]
    let client: Client | undefined
    while (open.length > 0 && client === undefined) {
      const fiber = open.pop()
      if (fiber === null || fiber === undefined) continue
      const candidate = fiber.memoizedProps?.client
      if (typeof candidate?.getQueryCache === 'function') client = candidate
      open.push(fiber.sibling, fiber.child)
    }
    if (client === undefined) throw new Error('the page has no query client')
    const write = (value: unknown): string =>
      JSON.stringify(value, (_, item: unknown) => {
        if (item instanceof Error) return [item.message, Object.entries(item)]
        return item instanceof Map || item instanceof Set ? [...item] : item
      })
    const list = (kind: string, cache: Cache): [string, string][] =>
      cache
        .getAll()
        .map(({ queryKey, state }) => [
          `${kind}: ${(write(queryKey) ?? '').slice(0, 60)}`,
          write([queryKey, state]),
        ])
    return [...list('read', client.getQueryCache()), ...list('change', client.getMutationCache())]
  })
