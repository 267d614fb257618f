// Prints docs/api/schemas.json, which describes the objects of the REST API as JSON Schema, for programs that generate
// types.
import type { Json } from './openapi-frame.ts'

/** Returns the component schemas of the API document as definitions. */
export function renderJsonSchemas(document: string): string {
  const { components } = JSON.parse(document) as { components: { schemas: Json } }
  const definitions = JSON.stringify(components.schemas).replaceAll('#/components/schemas/', '#/definitions/')
  return `{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": ${definitions}}`
}
