// Renderings for callers and for authors of templates, with the error each gets when one fails.
import { AppError, badRequest } from '../../platform/errors.ts'
import { TransformProblem, type TransformService } from './transform.service.ts'

/**
 * Returns a function that renders the body of a call; throws 400 for the body, 500 for the template, 503 when too many
 * wait.
 */
export const createCallRendering = ({ render }: Pick<TransformService, 'render'>) =>
  withError(render, ({ of, message, logged }) =>
    of === 'body'
      ? badRequest(message)
      : // The template's error may repeat values of the body; only a preview shows it, to users who may see them.
        new AppError(
          'template_failed',
          'the transformation template of the endpoint failed; nothing was forwarded',
          { logged },
        ),
  )

/** Returns a function that renders a body for a preview; throws 400 that says what is wrong. */
export const createPreviewRendering = ({ preview }: Pick<TransformService, 'preview'>) =>
  withError(preview, ({ message }) => badRequest(message))

const withError =
  <Args extends unknown[], Result>(
    work: (...args: Args) => Result | Promise<Result>,
    errorOf: (problem: TransformProblem) => AppError,
  ) =>
  async (...args: Args): Promise<Result> => {
    try {
      return await work(...args)
    } catch (error) {
      throw error instanceof TransformProblem ? errorOf(error) : error
    }
  }
