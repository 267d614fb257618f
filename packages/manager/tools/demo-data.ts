// Creates the objects of the demo through the public API, as the people who would create them. A later start finds them
// and keeps what people have changed.
import { readFileSync } from 'node:fs'
import { type Connection, graphql } from '@manager/client'
import * as documents from '@manager/client/documents'
import { type Person, accountant, anna, mia, projectMembers, tenantMembers } from './demo-people.ts'
import { type ApplicationSlug, applications, projectSlug, tenants } from './demo-world.ts'

type NamedEntity = { readonly id: string; readonly name: string }
export type DemoShop = {
  project: NamedEntity
  /** The application behind Ben's door. */
  application: NamedEntity
  applications: Readonly<Record<ApplicationSlug, NamedEntity>>
  /** Maps slugs to tenants. */
  tenants: Readonly<Record<string, NamedEntity>>
}
/** Returns a connection that is authenticated as a person, like a request through the proxy. */
export type ConnectAs = (person: Person) => Connection

/** Returns the project, its applications and its tenants, or null if the project does not exist. */
export async function findShop(admin: Connection): Promise<DemoShop | null> {
  const { projects } = await graphql(admin, documents.listProjectsDocument, {})
  const project = projects.find(({ slug }) => slug === projectSlug)
  if (project === undefined) return null
  const [{ applications: rows }, { tenants: tenantRows }] = await Promise.all([
    graphql(admin, documents.listApplicationsDocument, { projectSlug }),
    graphql(admin, documents.listTenantsDocument, { projectSlug }),
  ])
  const found = new Map(rows.map((row) => [row.slug, row]))
  const bySlug = applications.map(({ slug }): [string, NamedEntity] => {
    const row = found.get(slug)
    if (row === undefined)
      throw new Error(`the application ${slug} was deleted; remove the data of the demo to start over`)
    return [slug, row]
  })
  const applicationRows = Object.fromEntries(bySlug) as DemoShop['applications']
  return {
    project,
    application: applicationRows.shop,
    applications: applicationRows,
    tenants: Object.fromEntries(tenantRows.map((row) => [row.slug, row])),
  }
}

/** Creates the project with its people, applications and tenants. */
export async function createShop(admin: Connection, as: ConnectAs): Promise<DemoShop> {
  const people = [...projectMembers, ...tenantMembers, accountant]
  // The first request of a person creates their user.
  await Promise.all(people.map((person) => graphql(as(person), documents.meDocument, {})))
  const input = { name: 'Bloom', slug: projectSlug }
  const { createProject: project } = await graphql(admin, documents.createProjectDocument, { input })
  await addProjectMembers(admin, as(anna), project.id)
  const rows = {
    applications: await createApplications(as(mia), project.id),
    tenants: await createTenants(as(anna), project.id),
  }
  const shop: DemoShop = { project, application: rows.applications.shop, ...rows }
  await enableApplications(as(anna), shop)
  await addTenantMembers(as(anna), shop)
  return shop
}

/** The administrator hands the project over to Anna, who adds the others. */
async function addProjectMembers(admin: Connection, owner: Connection, projectID: string): Promise<void> {
  const add = (connection: Connection, { subject: userID, role = 'readonly' }: Person) =>
    graphql(connection, documents.addUserToProjectDocument, { projectID, userID, role })
  await add(admin, anna)
  const { me } = await graphql(admin, documents.meDocument, {})
  const { user2projects } = await graphql(admin, documents.listProjectMembersDocument, { project: projectID })
  const own = user2projects.find(({ user }) => user.id === me.id)
  for (const person of projectMembers.filter((one) => one !== anna)) await add(owner, person)
  if (own !== undefined) await graphql(owner, documents.removeUserFromProjectDocument, { id: own.id })
}

async function createApplications(
  maintainer: Connection,
  projectId: string,
): Promise<DemoShop['applications']> {
  const rows: [string, NamedEntity][] = []
  for (const { slug, name, description } of applications) {
    const variables = { projectId, input: { slug, name, description } }
    const { createApplication } = await graphql(maintainer, documents.createApplicationDocument, variables)
    rows.push([slug, createApplication])
  }
  return Object.fromEntries(rows) as DemoShop['applications']
}

async function createTenants(owner: Connection, projectId: string): Promise<DemoShop['tenants']> {
  const rows: [string, NamedEntity][] = []
  for (const input of tenants) {
    const { createTenant } = await graphql(owner, documents.createTenantDocument, { projectId, input })
    rows.push([input.slug, createTenant])
  }
  return Object.fromEntries(rows)
}

async function enableApplications(owner: Connection, shop: DemoShop): Promise<void> {
  for (const { slug, tenants: enabledTenants } of applications)
    for (const [tenant, enabled] of Object.entries(enabledTenants))
      await graphql(owner, documents.createTenant2ApplicationDocument, {
        input: { tenantId: getTenantId(shop, tenant), applicationId: shop.applications[slug].id, enabled },
      })
}

async function addTenantMembers(owner: Connection, shop: DemoShop): Promise<void> {
  await graphql(owner, documents.createTenantRoleDefinitionDocument, {
    tenantId: getTenantId(shop, 'acme'),
    input: { name: 'buyer', permissions: ['apps.read'] },
  })
  for (const { subject: userID, tenant } of tenantMembers)
    await graphql(owner, documents.addUserToTenantDocument, {
      tenantID: getTenantId(shop, tenant?.slug ?? ''),
      userID,
      roleName: tenant?.role ?? 'member',
    })
  await graphql(owner, documents.addUserToApplicationDocument, {
    applicationID: shop.applications.billing.id,
    userID: accountant.subject,
    role: 'readonly',
  })
}

/** Returns the id of a tenant. Throws if the tenant does not exist. */
export function getTenantId({ tenants: rows }: Pick<DemoShop, 'tenants'>, slug: string): string {
  const tenant = rows[slug]
  if (tenant === undefined) throw new Error(`the demo has no tenant ${slug}`)
  return tenant.id
}

/** Reads a file of the frontend shell. */
export const readShellSource = (file: string): Buffer<ArrayBuffer> =>
  readFileSync(new URL(`../../../examples/shell/${file}`, import.meta.url))
