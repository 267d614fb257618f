// Transformations: which templates are accepted, and what they make of a body. Where a template is stored is not here
// (endpoints/), nor is the template language itself (packages/gotemplate).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createCallRendering, createPreviewRendering } from './call-rendering.service.ts'
import { type TransformService, createTransformService } from './transform.service.ts'
import { transformationSettings } from './transformations.settings.ts'

export type TransformationsApi = Pick<TransformService, 'problemOf'> & {
  /** Renders the body of a call; throws 400 for the body, 500 for the template, 503 when too many wait. */
  render: ReturnType<typeof createCallRendering>
  /** Renders a body for the author of the template; throws 400 that says what is wrong. */
  preview: ReturnType<typeof createPreviewRendering>
}

export const transformations = defineFeature({
  name: 'transformations',
  settings: transformationSettings,
  create: ({ config }: { config: Config }) => {
    const settings = settingsOf(config, transformationSettings)
    const service = createTransformService({
      builtins: settings.esbTemplateBuiltins,
      missingKey: settings.esbTemplateMissingKey,
      env: config.templateEnv,
      maxOutputBytes: config.esbMaxRequestBytes,
    })
    const api: TransformationsApi = {
      problemOf: service.problemOf,
      render: createCallRendering(service),
      preview: createPreviewRendering(service),
    }
    return { close: service.close, api }
  },
})
