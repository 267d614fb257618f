// The people of the demo. The doors on the start page sign in Anna and Ben; the other people fill the lists.
import type { ProjectRole } from '../src/policy/roles.ts'

export type Person = {
  key: string
  subject: string
  name: string
  email: string
  /** The role in the project; absent for people who work for a tenant. */
  role?: ProjectRole
  /** The slug of the person's tenant, and the role there. */
  tenant?: { slug: string; role: string }
}

const createPerson = (
  number: number,
  name: string,
  domain: string,
  more: Pick<Person, 'role' | 'tenant'> = {},
): Person => {
  const [key = ''] = name.toLowerCase().split(' ')
  const subject = `de300000-0000-4000-8000-${String(number).padStart(12, '0')}`
  return { key, subject, name, email: `${key}@${domain}.example`, ...more }
}

/** Owns the project. */
export const anna = createPerson(1, 'Anna Lind', 'bloom', { role: 'owner' })
/** Works for the tenant Birch. */
export const ben = createPerson(2, 'Ben Carter', 'birch', { tenant: { slug: 'birch', role: 'member' } })
/** Maintains endpoints, applications and machine users. */
export const mia = createPerson(3, 'Mia Summers', 'bloom', { role: 'maintainer' })
/** Develops the pilets, the triggers and the translations. */
export const noah = createPerson(4, 'Noah Weiss', 'bloom', { role: 'developer' })

export const projectMembers: readonly Person[] = [
  anna,
  mia,
  noah,
  createPerson(5, 'Olga Marin', 'bloom', { role: 'tester' }),
  createPerson(6, 'Paul Turner', 'audit-partner', { role: 'readonly' }),
]
export const tenantMembers: readonly Person[] = [
  ben,
  createPerson(7, 'Bella Costa', 'birch', { tenant: { slug: 'birch', role: 'owner' } }),
  createPerson(8, 'Amir Stone', 'acme', { tenant: { slug: 'acme', role: 'owner' } }),
  createPerson(9, 'Alice Moreau', 'acme', { tenant: { slug: 'acme', role: 'buyer' } }),
  createPerson(10, 'Cara Lopez', 'cedar', { tenant: { slug: 'cedar', role: 'admin' } }),
  createPerson(11, 'Dora Klein', 'dune', { tenant: { slug: 'dune', role: 'member' } }),
]
/** Has a role in only one application. */
export const accountant = createPerson(12, 'Rosa Dean', 'ledger')

/** Creates the project. No door signs in this administrator. */
export const operator = createPerson(0, 'Demo', 'demo')

/** Returns the headers in which a proxy forwards the identity of a signed-in person. */
export const createIdentityHeaders = ({ subject, email, name }: Person): Record<string, string> => ({
  'x-token-subject': subject,
  'x-token-user-email': email,
  'x-token-user-name': name,
})
