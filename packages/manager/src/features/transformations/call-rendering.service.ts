// Renderings for callers and for authors of templates, with the error each gets when one fails.
import { AppError, badRequest } from '../../platform/errors.ts'
import { TransformProblem, type TransformService } from './transform.service.ts'

type Render = TransformService['render']

/**
 * Returns a function that renders the body of a call; throws 400 for the body, 500 for the template, 503 when too many
 * wait.
 */
export const createCallRendering = ({ render }: { render: Render }) =>
  rendering(render, (problem) =>
    problem.of === 'body'
      ? badRequest(problem.message)
      : // The template's error may repeat values of the body; only a preview shows it, to users who may see them.
        new AppError(
          'template_failed',
          'the transformation template of the endpoint failed; nothing was forwarded',
        ),
  )

/** Returns a function that renders a body for a preview; throws 400 that says what is wrong. */
export const createPreviewRendering = ({ render }: { render: Render }) =>
  rendering(render, (problem) => badRequest(problem.message))

const rendering =
  (render: Render, failureOf: (problem: TransformProblem) => AppError) =>
  async (...transformation: Parameters<Render>) => {
    try {
      return await render(...transformation)
    } catch (error) {
      throw error instanceof TransformProblem ? failureOf(error) : error
    }
  }
