// Renders bodies for callers and for template authors, each with different errors.
import { AppError, badRequest } from '../../platform/errors.ts'
import { TransformProblem, type TransformService } from './transform.service.ts'

/**
 * Returns a function that renders the body of a call. It throws 400 for an invalid body, 500 for a failing template,
 * and 503 if the queue is full.
 */
export const createCallRendering = ({ render }: Pick<TransformService, 'render'>) =>
  mapErrors(render, ({ source, message, logged }) =>
    source === 'body'
      ? badRequest(message)
      : // A template error can quote the body. Only a preview shows the error, because its user sent the body.
        new AppError(
          'template_failed',
          'the transformation template of the endpoint failed; nothing was forwarded',
          { logMessage: logged },
        ),
  )

/** Returns a function that renders a body for a preview. It throws 400 with the reason. */
export const createPreviewRendering = ({ preview }: Pick<TransformService, 'preview'>) =>
  mapErrors(preview, ({ source, message }) =>
    badRequest(message, source === 'body' ? 'input.body' : 'input.transformationTemplate'),
  )

const mapErrors =
  <Args extends unknown[], Result>(
    work: (...args: Args) => Result | Promise<Result>,
    createError: (problem: TransformProblem) => AppError,
  ) =>
  async (...args: Args): Promise<Result> => {
    try {
      return await work(...args)
    } catch (error) {
      throw error instanceof TransformProblem ? createError(error) : error
    }
  }
