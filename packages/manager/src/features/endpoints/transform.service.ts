// Transformations: a body is parsed by its declared type, rendered through the endpoint's template, and given the content
// type of the output. Templates are parsed once; a rendering has one budget for all it does.
import { LRUCache } from 'lru-cache'
import { type Template, TemplateError, goTime, parse } from 'gotemplate'
import { type TemplateEnv, templateFunctions } from './template-functions.ts'
import { XmlProblem, xmlToMap } from './xml-map.ts'

export type TransformOptions = {
  /** Go's own functions too, not only the seven. */
  builtins: boolean
  env: TemplateEnv
  maxOutputBytes: number
}
export type TransformService = ReturnType<typeof createTransformService>

/** What kept a body from being transformed: the body itself, or the template. */
export class TransformProblem extends Error {
  readonly of: 'body' | 'template'
  constructor(of: TransformProblem['of'], message: string) {
    super(message)
    this.of = of
  }
}

type Transformation = {
  template: string
  inputMessageType: string | null
  outputMessageType: string | null
  body: string
  application: { id: string; name: string; slug: string; description: string }
  endpoint: { id: string; name: string; consumeUrl: string; url: string | null; description: string }
  user: { id: string; username: string; name: string }
  at: Date
}

const maxTemplateBytes = 65_536
const budget = { steps: 100_000, depth: 32 }
// Parsed templates take several times their text.
const maxRememberedLength = 4 * 1_048_576
const goBuiltins = 'and or not eq ne lt le gt ge len index slice print printf println html js urlquery'.split(
  ' ',
)
const contentTypes: Record<string, string> = {
  JSON: 'application/json',
  XML: 'application/xml',
  SOAP: 'text/xml; charset=utf-8',
}

/** Parses and renders transformation templates. */
export function createTransformService(options: TransformOptions) {
  let at = new Date()
  const functions = templateFunctions(options.env, () => rfc3339(at))
  const remembered = new LRUCache<string, Template>({
    maxSize: maxRememberedLength,
    sizeCalculation: (_template, text) => text.length + 1,
  })
  const parsed = (text: string): Template => {
    let template = remembered.get(text)
    if (template === undefined) {
      template = parse(text, {
        functions,
        builtins: options.builtins ? goBuiltins : false,
        hint: (_name, isBuiltin) => (isBuiltin ? 'set esb.template_builtins to use functions of Go' : ''),
        limits: { length: maxTemplateBytes },
      })
      remembered.set(text, template)
    }
    return template
  }
  return {
    /** What is wrong with a template, in words; null when nothing is. */
    problemOf: (text: string): string | null => {
      if (Buffer.byteLength(text) > maxTemplateBytes)
        return `transformationTemplate must have at most ${maxTemplateBytes} bytes`
      if (!text.isWellFormed() || text.includes('\0'))
        return 'transformationTemplate must not contain broken Unicode or U+0000'
      try {
        parsed(text)
        return null
      } catch (error) {
        if (error instanceof TemplateError) return `transformationTemplate cannot be parsed: ${error.message}`
        throw error
      }
    },

    /** The rendered body and its content type; throws TransformProblem. */
    render: (transformation: Transformation): { output: string; contentType: string } => {
      const data = contextOf(transformation, options.env)
      at = transformation.at
      try {
        const output = parsed(transformation.template).execute(data, {
          ...budget,
          outputBytes: options.maxOutputBytes,
        })
        return { output, contentType: contentTypes[transformation.outputMessageType ?? 'JSON'] as string }
      } catch (error) {
        if (error instanceof TemplateError)
          throw new TransformProblem('template', `the transformation template failed: ${error.message}`)
        throw error
      }
    },
  }
}

/** What templates see. */
function contextOf(transformation: Transformation, env: TemplateEnv): object {
  const { application, endpoint, user, at } = transformation
  return {
    Data: readBody(transformation),
    Application: {
      ID: application.id,
      Name: application.name,
      Slug: application.slug,
      Description: application.description,
    },
    Endpoint: {
      ID: endpoint.id,
      Name: endpoint.name,
      ConsumeURL: endpoint.consumeUrl,
      URL: endpoint.url ?? '',
      Description: endpoint.description,
    },
    User: { ID: user.id, Username: user.username, Name: user.name },
    Meta: { Timestamp: rfc3339(at), RequestTime: goTime(at) },
    Env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  }
}

function readBody({ inputMessageType, body }: Transformation): unknown {
  if (inputMessageType === 'XML' || inputMessageType === 'SOAP')
    try {
      return xmlToMap(body)
    } catch (error) {
      if (error instanceof XmlProblem)
        throw new TransformProblem(
          'body',
          `the body is not ${inputMessageType} as the endpoint expects: ${error.message}`,
        )
      throw error
    }
  try {
    return JSON.parse(body) as unknown
  } catch {
    if (inputMessageType === 'JSON')
      throw new TransformProblem('body', 'the body is not JSON as the endpoint expects')
    return { Body: body }
  }
}

/** As Go writes a time in UTC: no fraction of a second. */
const rfc3339 = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`
