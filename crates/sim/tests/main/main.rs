//! Properties of the simulator, tested through its public interface. One module per behaviour; each test names the
//! defect that it catches.

mod acknowledgements;
mod answers;
mod any_graph;
mod bursts;
mod conservation;
mod decisions;
mod dependencies;
mod determinism;
mod direct;
mod documents;
mod driven;
mod fairness;
mod fat_tree;
mod graph;
mod hops;
mod hyperx;
mod independence;
mod layers;
mod lists;
mod modes;
mod monitor;
mod outputs;
mod partitions;
mod programs;
mod queues;
mod refusals;
mod routers;
mod saturation;
mod streams;
mod support;
mod switching;
mod waiting;
mod zero_load;
