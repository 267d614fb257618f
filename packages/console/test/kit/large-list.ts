// A project with 10,000 tenants, and the time until a person sees the first of them.
import type { Scene, Visit } from './scene.ts'

const tenantCount = 10_000
/** Returns the name of a tenant. Numbers have the same length, so that the order of names is the one of numbers. */
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

/** Measures the milliseconds until the first row: from a typed address, and from a link of the console. */
export async function measureFirstRow({ page, open }: Visit): Promise<Times> {
  const row = page.getByRole('row', { name: new RegExp(`^${nameTenant(1)}`) })
  const link = page.getByRole('navigation').getByRole('link', { name: /^Tenants/ })
  const measure = async (navigate: () => Promise<unknown>): Promise<number> => {
    const start = performance.now()
    await navigate()
    await row.waitFor()
    return Math.round(performance.now() - start)
  }
  const address = await measure(() => open('/p/main/tenants', 'commit'))
  await open('/p/main/overview')
  await link.waitFor()
  return { address, link: await measure(() => link.click()) }
}
