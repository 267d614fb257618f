// A project with 10,000 tenants, and the time until a person sees the first of them.
import type { Page } from 'playwright-core'
import type { Scene, Visit } from './scene.ts'

const tenantCount = 10_000
/** Returns the name of a tenant. Numbers have the same length, so that names and numbers have the same order. */
export const nameTenant = (number: number): string => `Customer ${String(number).padStart(5, '0')}`

/** Inserts the tenants in one statement. Those with an even number are dedicated. */
export async function seedTenants({ service: { sql }, project }: Scene): Promise<void> {
  await sql.query(
    `insert into tenants (id, project_id, name, slug, deployment_mode)
     select gen_random_uuid(), $1, 'Customer ' || lpad(n::text, 5, '0'), 'customer-' || n,
            case when n % 2 = 0 then 'dedicated' else 'shared' end
       from generate_series(1, $2::int) n`,
    [project.id, tenantCount],
  )
  await sql.query('analyze tenants')
}

type Times = { readonly address: number; readonly link: number }
type Watch = { startedAt: number; shownAt?: number }
declare global {
  var firstRowWatch: Watch | undefined
}

/**
 * Runs in the page: stores the time of the first frame that shows a row with the text. Playwright would check only every 500 ms.
 */
function watchFirstRow(name: string): void {
  const watch: Watch = (globalThis.firstRowWatch = { startedAt: performance.now() })
  const look = (): void => {
    const rows = [...document.querySelectorAll('[role=row]')]
    if (rows.some(({ textContent }) => textContent.includes(name))) watch.shownAt = performance.now()
    else requestAnimationFrame(look)
  }
  look()
}

/** Runs in the page: sends a request, so that the Manager has verified the credential before the measurement. */
async function signIn(): Promise<number> {
  const body = JSON.stringify({ query: '{ me { id } }' })
  return (await fetch('/query', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
    .status
}

const readWatch = (page: Page): Promise<Watch | undefined> => page.evaluate(() => globalThis.firstRowWatch)

type Target = {
  path: string
  /** The name of the link in the side bar. */
  link: RegExp
  /** A text in the first row. */
  text: string
}
const tenants: Target = { path: '/p/main/tenants', link: /^Tenants/, text: nameTenant(1) }

/**
 * Measures the milliseconds until the first row is shown, both for a typed address with an empty cache and for a link
 * in the console.
 */
export async function measureFirstRow({ page, open }: Visit, target: Target = tenants): Promise<Times> {
  const { path, text: name } = target
  const row = page.getByRole('row').filter({ hasText: name }).first()
  const link = page.getByRole('navigation').getByRole('link', { name: target.link })
  // The person is signed in; hashing the credential at the first request takes about 300 ms.
  await open('/assets/none')
  await page.evaluate(signIn)
  await page.addInitScript(watchFirstRow, name)
  await open(path, 'commit')
  await row.waitFor()
  const opened = await readWatch(page)
  await open('/p/main/overview')
  await link.waitFor()
  await page.evaluate(watchFirstRow, name)
  await link.click()
  await row.waitFor()
  const followed = await readWatch(page)
  return {
    // The clock of a page starts when its navigation starts.
    address: Math.round(opened?.shownAt ?? Infinity),
    link: Math.round((followed?.shownAt ?? Infinity) - (followed?.startedAt ?? 0)),
  }
}
