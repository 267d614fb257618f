// A pilet that shows the latest stock count from the backend.

/** The shell calls this function once and passes the functions that it offers to pilets. */
export function setup({ addSection, text, onInbox }) {
  const stock = document.createElement('p')
  stock.textContent = text('stock.waiting')
  addSection(text('stock.title')).append(stock)
  onInbox((notifications) => {
    const left = notifications.find(({ data }) => data?.left !== undefined)?.data.left
    if (left !== undefined) stock.textContent = text('stock.left', { left })
  })
}
