// Transformations of bodies that are about to be forwarded, with the answers their callers get when one fails.
import { AppError, badRequest } from '../../platform/errors.ts'
import { TransformProblem, type TransformService } from './transform.service.ts'

/** A function that renders the body of a call; throws 400 for the body, 500 for the template, 503 when too many wait. */
export const createCallRendering =
  ({ render }: Pick<TransformService, 'render'>) =>
  async (...transformation: Parameters<typeof render>) => {
    try {
      return await render(...transformation)
    } catch (error) {
      if (!(error instanceof TransformProblem)) throw error
      if (error.of === 'body') throw badRequest(error.message)
      // What the template said may repeat values of the body; a preview shows it to whoever may see them.
      throw new AppError(
        'template_failed',
        'the transformation template of the endpoint failed; nothing was forwarded',
      )
    }
  }
