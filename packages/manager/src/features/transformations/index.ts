// This feature validates and renders templates for request bodies. endpoints/ stores the templates, and
// packages/gotemplate implements the template language.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createCallRendering, createPreviewRendering } from './call-rendering.service.ts'
import { type TransformService, createTransformService } from './transform.service.ts'
import { transformationSettings } from './transformations.settings.ts'

/** Validates and renders templates for other features. */
export type TransformationsApi = Pick<TransformService, 'findProblem'> & {
  /**
   * Renders the body of a call. Throws 400 for an invalid body, 500 for a failing template, and 503 if the queue is
   * full.
   */
  render: ReturnType<typeof createCallRendering>
  /** Renders a body for the author of the template. Throws 400 with the reason. */
  preview: ReturnType<typeof createPreviewRendering>
}

/** Renders templates on the main thread or in worker threads. It registers no routes. */
export const transformations = defineFeature({
  name: 'transformations',
  settings: transformationSettings,
  create: ({ config }: { config: Config }) => {
    const settings = selectSettings(config, transformationSettings)
    const service = createTransformService({
      builtins: settings.esbTemplateBuiltins,
      missingKey: settings.esbTemplateMissingKey,
      env: config.templateEnv,
      maxOutputBytes: config.esbMaxRequestBytes,
    })
    const api: TransformationsApi = {
      findProblem: service.findProblem,
      render: createCallRendering(service),
      preview: createPreviewRendering(service),
    }
    return { close: service.close, api }
  },
})
