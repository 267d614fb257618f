// Tests the limits for a single document: every ordinary query is accepted, and no response exceeds the capacity of a
// process.
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  buildSchema,
  getNamedType,
  getNullableType,
} from 'graphql'
import { isLeafType, isListType, isObjectType, isRequiredArgument } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from './kit/project.ts'

let schema: GraphQLSchema
const { service, admin, project } = useProject({ slug: 'full' })
beforeAll(async () => {
  schema = buildSchema(service.app.describe().schema)
  await service.sql.query(
    `insert into tenants (id, project_id, name, slug)
     select gen_random_uuid(), $1, rpad('tenant ' || n, 100, 'x'), 't' || n from generate_series(2, 100) n`,
    [project.id],
  )
  await service.sql.query(
    `insert into applications (id, project_id, name, slug, description)
     select gen_random_uuid(), $1, 'application ' || n, 'a' || n, repeat('d', 2000) from generate_series(2, 100) n`,
    [project.id],
  )
})

const unknownId = '00000000-0000-7000-8000-000000000000'
type Field = ReturnType<GraphQLObjectType['getFields']>[string]
const typeOf = (field: Field): GraphQLObjectType => getNamedType(field.type) as GraphQLObjectType
const isList = (field: Field): boolean => isListType(getNullableType(field.type))
const leadsToRows = (field: Field): boolean => isList(field) && isObjectType(getNamedType(field.type))
const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields())

/** Returns a field with its required arguments, whose ids do not exist. */
const call = (field: Field): string => {
  const given = field.args.filter(isRequiredArgument).map(({ name }) => `${name}: "${unknownId}"`)
  return given.length === 0 ? field.name : `${field.name}(${given.join(', ')})`
}
const leavesOf = (type: GraphQLObjectType): string[] =>
  fieldsOf(type)
    .filter((field) => isLeafType(getNamedType(field.type)))
    .map(({ name }) => name)
/** Returns all fields of a type, and the leaf fields of its nested objects. */
const allOf = (type: GraphQLObjectType): string =>
  [
    '__typename',
    ...leavesOf(type),
    ...fieldsOf(type)
      .filter((field) => isObjectType(getNamedType(field.type)) && !isList(field))
      .map((field) => `${field.name} { __typename ${leavesOf(typeOf(field)).join(' ')} }`),
  ].join(' ')

/** Returns each list below a type as a selection, including the lists of nested objects. */
function listsBelow(type: GraphQLObjectType): string[] {
  const rows = (field: Field): string => `${field.name} { ${allOf(typeOf(field))} }`
  return fieldsOf(type).flatMap((field) => {
    if (leadsToRows(field)) return [rows(field)]
    if (!isObjectType(getNamedType(field.type))) return []
    const inner = fieldsOf(typeOf(field)).filter(leadsToRows)
    return inner.map((list) => `${field.name} { ${rows(list)} }`)
  })
}

describe('ordinary questions', () => {
  test('every root field passes with all its fields and any two lists below it, at default pages', async () => {
    const documents: string[] = []
    for (const root of fieldsOf(schema.getQueryType() as GraphQLObjectType)) {
      if (!isObjectType(getNamedType(root.type))) continue
      const below = listsBelow(typeOf(root))
      documents.push(`{ ${call(root)} { ${allOf(typeOf(root))} } }`)
      for (const one of below)
        for (const other of below)
          documents.push(`{ ${call(root)} { ${allOf(typeOf(root))} ...A ...B } }
            fragment A on ${typeOf(root).name} { ${one} } fragment B on ${typeOf(root).name} { ${other} }`)
    }
    expect(documents.length).toBeGreaterThan(60)
    // The ids do not exist, which is reported only during execution. Status 400 therefore means that the document was
    // rejected.
    const refused = new Set<string>()
    for (const text of documents) {
      const { status, error } = await service.query(admin, text)
      if (status !== 200) refused.add(`${error}: ${text}`)
    }
    expect([...refused]).toEqual([])
  })

  test('three lists inside one another pass with default pages, and so do variables that give their sizes', async () => {
    const text = '{ projects { applications { endpoints { id } } } }'
    const { status, data, error } = await service.query(admin, text)
    expect([status, error]).toEqual([200, null])
    expect(data.projects[0].applications).toHaveLength(100)
    const paged = await service.query(
      admin,
      'query($p: Pagination) { projects(pagination: $p) { applications(pagination: $p) { endpoints(pagination: $p) { id } } } }',
      { p: { limit: 25, offset: 0 } },
    )
    expect([paged.status, paged.error, paged.data.projects[0].applications.length]).toEqual([200, null, 25])
  })

  test('projects with their tenants and applications are answered', async () => {
    const { data, error } = await service.query(
      admin,
      `{ projects { id name slug createdAt environments { id name displayName project { slug } }
           tenants { id name slug deploymentMode project { slug } }
           applications { id name slug description createdAt project { slug } } } }`,
    )
    expect(error).toBeNull()
    expect(data.projects[0].tenants.length + data.projects[0].applications.length).toBe(200)
  })
})

describe('too much', () => {
  const page = (limit: number): string => `pagination: {limit: ${limit}, offset: 0}`
  const named = (field: string, count: number): string =>
    Array.from({ length: count }, (_, i) => `${field}${i}: ${field}`).join(' ')

  const readsRows = (): boolean =>
    service.statements.some((sql) => /from "?(tenants|applications|endpoints)/.test(sql))
  const paged = (field: string, size: string, inner: string): string =>
    `${field}(pagination: ${size}) { project { ${inner} } }`
  /** Returns a selection with this many nested lists of tenants, each with this page size. */
  const nested = (lists: number, size: string): string => {
    let inner = `tenants(pagination: ${size}) { id }`
    for (let level = 2; level < lists; level++) inner = paged('tenants', size, inner)
    return `tenants(projectSlug: "full", pagination: ${size}) { project { ${inner} } }`
  }

  test('five lists inside one another are refused before anything runs, by the sizes of their pages', async () => {
    const hundred = '{limit: 100, offset: 0}'
    const variable = { p: { limit: 100, offset: 0 } }
    const documents: [string, object?][] = [
      [`{ ${nested(5, hundred)} }`],
      [`{ ${nested(5, 'null')} }`],
      [`query($p: Pagination) { ${nested(5, '$p')} }`],
      [`query($p: Pagination) { ${nested(5, '$p')} }`, variable],
      [`query($p: Pagination = ${hundred}) { ${nested(5, '$p')} }`],
      [`query($n: Int!) { ${nested(5, '{limit: $n, offset: 0}')} }`, { n: 100 }],
      // A page size that the list will reject must not lower the estimate.
      [`query($n: Int!) { ${nested(5, '{limit: $n, offset: 0}')} }`, { n: -1 }],
    ]
    for (const [text, variables] of documents) {
      service.statements.length = 0
      const { status, error } = await service.query(admin, text, variables as Record<string, unknown>)
      expect([text, status, error, readsRows()]).toEqual([
        text,
        400,
        'this document could return more than 1000000000 objects; request smaller pages or fewer levels',
        false,
      ])
    }
    const one = { p: { limit: 1, offset: 0 } }
    for (const text of [
      `query($p: Pagination = ${hundred}) { ${nested(5, '$p')} }`,
      `{ ${nested(5, page(1).slice(12))} }`,
    ])
      expect((await service.query(admin, text, one)).error).toBeNull()
  })

  test('a mutation whose answer could have too many objects is refused before anything is written', async () => {
    const create = (slug: string, inner: string): string =>
      `mutation { createTenant(projectId: "${project.id}", input: {name: "New", slug: "${slug}"}) { project { ${inner} } } }`
    const tenants = (inner: string): string => `tenants { project { ${inner} } }`
    for (const inner of [
      tenants(tenants('tenants { id }')),
      // 100 * (1 + 1 + 100 * (1 + 15)) objects: each `__typename` alias counts as one.
      `tenants { project { tenants { ${named('__typename', 15)} } } }`,
    ]) {
      const { status, error } = await service.query(admin, create('refused', inner))
      expect([status, error]).toEqual([
        400,
        'this document could return more than 100000 objects; request smaller pages or fewer levels',
      ])
    }
    const written = await service.sql.query("select slug from tenants where slug = 'refused'")
    expect(written.rows).toEqual([])
    const fits = await service.query(admin, create('accepted', tenants('slug')))
    expect([fits.status, fits.error]).toEqual([200, null])
    await service.sql.query("delete from tenants where slug = 'accepted'")
  })

  test('objects are counted while they are produced, and an answer stops at 100,000 of them', async () => {
    // A page has 100 tenants. Each tenant selects its project, which again has a page of 100 tenants.
    const rows = (first: number): string =>
      nested(3, '{limit: 100, offset: 0}').replace('limit: 100', `limit: ${first}`)
    // 4 + 4 * (1 + 100 * (2 + 100)) objects for four rows.
    const fits = await service.query(admin, `{ ${rows(1)} }`)
    expect([fits.status, fits.error]).toEqual([200, null])
    for (const text of [
      `{ ${rows(10)} }`,
      `{ ${rows(100)} }`,
      `{ ${nested(4, '{limit: 100, offset: 0}')} }`,
      `query($p: Pagination) { ${nested(3, '$p')} }`,
      // `__typename` has no resolver; the object budget counts its aliases.
      `{ tenants(projectSlug: "full") { project { tenants { ${named('__typename', 15)} } } } }`,
    ]) {
      const { status, data, error, errors } = await service.query(admin, text)
      expect([text, status, data, error]).toEqual([
        text,
        200,
        null,
        'this response would have more than 100000 objects; request smaller pages or fewer levels',
      ])
      expect(errors.length).toBeLessThanOrEqual(20)
      expect(errors[0]?.extensions?.code).toBe('bad_request')
    }
  })

  test('short and long values that make more than 16 MiB together are refused while they are shown', async () => {
    const documents = [
      `{ tenants(projectSlug: "full") { project { tenants { ${named('name', 25)} } } } }`,
      `{ tenants(projectSlug: "full") { project { tenants { ${named('deploymentMode', 28)} id name slug } } }
         applications(projectSlug: "full") { project { tenants { id name slug } } } }`,
      '{ tenants(projectSlug: "full") { project { applications { description } } } }',
      `{ tenants(projectSlug: "full", ${page(10)}) { project { applications { ${named('description', 25)} } } } }`,
    ]
    for (const text of documents) {
      const { data, error } = await service.query(admin, text)
      expect([text, data, error]).toEqual([text, null, expect.stringContaining('exceed 16777216 bytes')])
    }
    const fits = await service.query(
      admin,
      `{ tenants(projectSlug: "full", ${page(50)}) { project { applications { description } } } }`,
    )
    expect(fits.error).toBeNull()
  })

  test('templates are read only where they are asked for, and refused when they are too much together', async () => {
    const template = 'x'.repeat(65_536)
    await service.sql.query(
      `insert into endpoints (id, project_id, application_id, name, description, enabled, consume_url, auth_type,
         auth_username, transformation_template, log_level)
       select gen_random_uuid(), a.project_id, a.id, 'e', '', true, '/' || n, 'None', '', $2, 'BASIC'
       from (select * from applications where project_id = $1 order by id limit 4) a, generate_series(1, 100) n`,
      [project.id, template],
    )
    const ask = (limit: number, fields: string) => {
      service.statements.length = 0
      return service.query(
        admin,
        `{ applications(projectSlug: "full", ${page(limit)}) { endpoints { ${fields} } } }`,
      )
    }
    const readsTemplates = () =>
      service.statements.some((sql) => /select[^(]*"transformation_template"/.test(sql))
    const names = await ask(10, 'name')
    expect([names.error, readsTemplates()]).toEqual([null, false])
    const one = await ask(1, 'transformationTemplate')
    expect([one.error, one.data.applications[0].endpoints[99].transformationTemplate.length]).toEqual([
      null,
      65_536,
    ])
    const all = await ask(10, 'transformationTemplate')
    expect([all.data, all.error]).toEqual([null, expect.stringContaining('exceed 16777216 bytes')])
    const twice = await ask(1, 'a: transformationTemplate b: transformationTemplate')
    expect(twice.error).toBeNull()
    const thrice = await ask(
      1,
      'a: transformationTemplate b: transformationTemplate c: transformationTemplate',
    )
    expect(thrice.error).toContain('exceed 16777216 bytes')
  })
})
