// What one document may ask for: every ordinary question passes, and no answer holds more than a process can give.
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

const nobody = '00000000-0000-7000-8000-000000000000'
type Field = ReturnType<GraphQLObjectType['getFields']>[string]
const typeOf = (field: Field): GraphQLObjectType => getNamedType(field.type) as GraphQLObjectType
const isList = (field: Field): boolean => isListType(getNullableType(field.type))
const leadsToRows = (field: Field): boolean => isList(field) && isObjectType(getNamedType(field.type))
const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields())

/** A field with what it must be given, which names nothing. */
const call = (field: Field): string => {
  const given = field.args.filter(isRequiredArgument).map(({ name }) => `${name}: "${nobody}"`)
  return given.length === 0 ? field.name : `${field.name}(${given.join(', ')})`
}
const leavesOf = (type: GraphQLObjectType): string[] =>
  fieldsOf(type)
    .filter((field) => isLeafType(getNamedType(field.type)))
    .map(({ name }) => name)
/** All fields of a type, with the leaves of the objects it leads to. */
const allOf = (type: GraphQLObjectType): string =>
  [
    '__typename',
    ...leavesOf(type),
    ...fieldsOf(type)
      .filter((field) => isObjectType(getNamedType(field.type)) && !isList(field))
      .map((field) => `${field.name} { __typename ${leavesOf(typeOf(field)).join(' ')} }`),
  ].join(' ')

/** The lists below a type, each as a selection: its own, and those of the objects it leads to. */
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
    // What they name does not exist, which is said once they run: only a refused document answers 400.
    const refused = new Set<string>()
    for (const text of documents) {
      const { status, error } = await service.query(admin, text)
      if (status !== 200) refused.add(`${error}: ${text}`)
    }
    expect([...refused]).toEqual([])
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

  test('three lists inside each other are refused at 100 rows each, before anything runs', async () => {
    const documents = [
      '{ projects { applications { endpoints { id } } } }',
      `{ tenants(projectSlug: "full") { project { tenants { project { tenants { id } } } } } }`,
      `{ tenants(projectSlug: "full") { project { tenants { project { tenants { __typename } } } } } }`,
      `query($p: Pagination) { projects(pagination: $p) { applications { endpoints { id } } } }`,
      `{ projects(${page(20)}) { tenants { project { tenants { id } } } } }`,
      // Nobody charges __typename while it is shown.
      `{ projects { tenants { ${named('__typename', 15)} } } }`,
    ]
    for (const text of documents) {
      service.statements.length = 0
      const { status, error } = await service.query(admin, text)
      expect([text, status, error]).toEqual([text, 400, expect.stringContaining('more than 100000 objects')])
      expect(service.statements.filter((sql) => /from "?(tenants|applications|endpoints)/.test(sql))).toEqual(
        [],
      )
    }
    const { status } = await service.query(
      admin,
      `{ projects(${page(1)}) { applications { endpoints { id } } } }`,
    )
    expect(status).toBe(200)
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
      expect([text, data, error]).toEqual([text, null, expect.stringContaining('more than 16777216 bytes')])
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
    expect([all.data, all.error]).toEqual([null, expect.stringContaining('more than 16777216 bytes')])
    const twice = await ask(1, 'a: transformationTemplate b: transformationTemplate')
    expect(twice.error).toBeNull()
    const thrice = await ask(
      1,
      'a: transformationTemplate b: transformationTemplate c: transformationTemplate',
    )
    expect(thrice.error).toContain('more than 16777216 bytes')
  })
})
