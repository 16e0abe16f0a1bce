import TaskSchedulerCore

/// Carries out the scheduler's effects about the location (contract §17).
final class MachineLocation {
  let sources: LocationSources
  private let transactions: LocationTransactions
  let questions: LocationQuestions
  private let agents: SessionAgents

  init(
    sources: LocationSources, transactions: LocationTransactions, questions: LocationQuestions,
    agents: SessionAgents
  ) {
    self.sources = sources
    self.transactions = transactions
    self.questions = questions
    self.agents = agents
  }

  /// Passes the stored regions and decisions to the scheduler. Call this only if the scheduler has
  /// no state of an earlier daemon.
  func load() { transactions.load() }

  /// Begins to store changes, those of an earlier daemon first.
  func serve() { transactions.serve() }

  /// Begins to report which sources are available, and to report locations.
  ///
  /// - Parameter needs: The scheduler's current needs. After a takeover, they come from the earlier
  ///   daemon.
  func start(_ needs: LocationNeeds) {
    need(needs)
    sources.start()
  }

  func run(_ effect: LocationEffect) {
    switch effect {
    case .need(let needs): need(needs)
    case .store(let id, let key, let change): transactions.store(id, .init(change, of: key))
    case .ask(let key, true): questions.show(key)
    case .ask(let key, false): questions.hide(key)
    }
  }

  private func need(_ needs: LocationNeeds) {
    sources.need(needs)
    agents.need(needs)
  }

  /// Stops the sources, and waits until all changes are stored. Call this before the daemon exits.
  func finish() {
    sources.need(LocationNeeds())
    transactions.finish()
  }
}
