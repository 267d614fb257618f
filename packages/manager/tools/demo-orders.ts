// The part of the shop's backend that accepts orders. It orders from the warehouse through the ESB, and notifies Anna
// and the people of the tenant. The proxy passes the verified identity, as it would pass X-User-Id and X-Tenant-Id.
import { type Connection, callEsb, emit } from '@manager/client'
import { type Person, anna } from './demo-people.ts'

/** A person who orders, and their tenant. */
type Customer = { person: Person; tenant: { readonly id: string; readonly name: string } }
type OrderResult = { status: number; body: object }
export type PlaceOrder = (customer: Customer, count: number) => Promise<OrderResult>

type Answer = { order?: string; left?: number; error?: string }

/** Returns a function that places an order. `machine` is the connection of the shop's machine user. */
export function createOrders(machine: Connection, applicationId: string): PlaceOrder {
  const tellAnna = (
    tenantId: string,
    title: string,
    more: { body: string; severity: 'success' | 'warning' },
  ) => emit(machine, { applicationId, tenantId, recipients: [anna.subject], title, ...more })
  return async ({ person, tenant }, count) => {
    const response = await callEsb(machine, {
      applicationId,
      path: '/orders',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tenant: tenant.name, count }),
    })
    const answer = (await response.json()) as Answer
    if (response.status === 409) {
      const body = `The warehouse has ${answer.left} left.`
      await tellAnna(tenant.id, `${tenant.name} wanted ${count} tulips`, { body, severity: 'warning' })
      return { status: 409, body: { left: answer.left } }
    }
    if (!response.ok || answer.order === undefined)
      return { status: 502, body: { error: `the warehouse returned ${response.status}` } }
    await emit(machine, {
      applicationId,
      tenantId: tenant.id,
      title: `Order ${answer.order} is on its way`,
      body: `${count} tulips arrive tomorrow.`,
      severity: 'success',
      data: { left: answer.left },
    })
    const body = `Order ${answer.order} by ${person.name}.`
    await tellAnna(tenant.id, `${tenant.name} ordered ${count} tulips`, { body, severity: 'success' })
    return { status: 200, body: { order: answer.order, left: answer.left } }
  }
}
