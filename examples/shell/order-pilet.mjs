// A pilet that shows the latest stock count from the backend and places orders with the warehouse.

/** The shell calls this function once and passes the functions that it offers to pilets. */
export function setup({ addSection, text, onInbox }) {
  const stock = createElement('p', text('stock.waiting'))
  const count = Object.assign(document.createElement('input'), {
    type: 'number',
    min: 1,
    max: 500,
    value: 12,
    required: true,
  })
  const label = createElement('label', text('order.count'))
  label.append(count)
  const button = createElement('button', text('order.send'))
  const note = Object.assign(createElement('p', ''), { role: 'status' })
  const form = createElement('form', '')
  form.append(label, button)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    note.textContent = await order(count.valueAsNumber, text)
    button.disabled = false
  })
  addSection(text('order.title')).append(stock, form, note)
  onInbox((notifications) => {
    const left = notifications.find(({ data }) => data?.left !== undefined)?.data.left
    if (left !== undefined) stock.textContent = text('stock.left', { left })
  })
}

const createElement = (name, words) => Object.assign(document.createElement(name), { textContent: words })

/** Sends the order to the backend of the application. Returns the text to show. */
async function order(count, text) {
  try {
    const response = await fetch('/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ count }),
    })
    const answer = await response.json()
    if (response.ok) return text('order.thanks', { order: answer.order, count })
    if (response.status === 409) return text('order.tooMany', { left: answer.left })
  } catch {
    // The network failed.
  }
  return text('order.failed')
}
